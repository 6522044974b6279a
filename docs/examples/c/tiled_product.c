/* SPDX-License-Identifier: BSD-3-Clause
 * A matrix product by tiles: the next two tiles arrive while two are multiplied. The library's own
 * product checks the result.
 *     build/bin/tessera-run -n 4 build/docs/examples/c/tiled_product
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/tessera.h>

enum { n = 240, tile = 60, tiles = n / tile };
typedef double Tile[tile][tile];

static void check(int code) {
  if (code != 0) {
    fprintf(stderr, "%s\n", tessera_last_error());
    exit(1);
  }
}
/* Starts to fetch a tile; the handle collects transfers. */
static void fetch(const tessera_array* from, int row, int column, Tile to,
                  tessera_handle** handle) {
  const int64_t lo[2] = {row * tile, column * tile}, hi[2] = {lo[0] + tile, lo[1] + tile};
  check(tessera_array_get_async(from, lo, hi, to, NULL, handle));
}
static void add_product(Tile a, Tile b, Tile c) {
  for (int i = 0; i < tile; ++i) {
    for (int k = 0; k < tile; ++k) {
      for (int j = 0; j < tile; ++j) {
        c[i][j] += a[i][k] * b[k][j];
      }
    }
  }
}
static void make_tile(tessera_array* const m[], int row, int column) {
  static Tile a[2], b[2], c; /* one pair arrives while the other is multiplied */
  tessera_handle* arriving = NULL;
  const int64_t lo[2] = {row * tile, column * tile}, hi[2] = {lo[0] + tile, lo[1] + tile};
  memset(c, 0, sizeof c);
  fetch(m[0], row, 0, a[0], &arriving);
  fetch(m[1], 0, column, b[0], &arriving);
  for (int k = 0; k < tiles; ++k) {
    check(tessera_handle_wait(&arriving));
    if (k + 1 < tiles) {
      fetch(m[0], row, k + 1, a[(k + 1) % 2], &arriving);
      fetch(m[1], k + 1, column, b[(k + 1) % 2], &arriving);
    }
    add_product(a[k % 2], b[k % 2], c);
  }
  check(tessera_array_put(m[2], lo, hi, c, NULL));
}
int main(void) {
  const int64_t extents[2] = {n, n};
  const double plus = 1, minus = -1;
  double error = 0;
  int64_t rank = 0, size = 1;
  tessera_job* job = NULL;
  tessera_array* m[4] = {NULL, NULL, NULL, NULL}; /* A, B, A B by tiles, and by the library */
  check(tessera_job_start(&job));
  check(tessera_job_rank(job, &rank));
  check(tessera_job_size(job, &size));
  for (int i = 0; i < 4; ++i) {
    check(tessera_array_create(job, TESSERA_F64, 2, extents, NULL, &m[i]));
    check(tessera_array_fill_random(tessera_part_whole(m[i]), (uint64_t)i, -1, 1));
  }
  for (int64_t number = rank; number < tiles * tiles; number += size) {
    make_tile(m, (int)number / tiles, (int)number % tiles);
  }
  check(tessera_matrix_gemm(tessera_matrix_whole(m[0]), tessera_matrix_whole(m[1]), NULL,
                            tessera_matrix_whole(m[3])));
  const tessera_part found = tessera_part_whole(m[2]), right = tessera_part_whole(m[3]);
  check(tessera_array_add(&plus, found, &minus, right, right)); /* begins with a sync */
  check(tessera_array_norm_max(right, &error));
  if (rank == 0) {
    printf("%d x %d by %d tiles: error %.1e\n", n, n, tiles * tiles, error);
  }
  check(tessera_job_free(&job));
  return error < 1e-12 ? 0 : 1;
}
