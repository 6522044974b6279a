/* SPDX-License-Identifier: BSD-3-Clause
 * Patches by global indices: put, get and accumulate, from parts of larger local matrices; every
 * second element; and a box over the ends of the array.
 *     build/bin/tessera-run -n 4 build/docs/examples/c/patches
 */
#include <stdio.h>
#include <stdlib.h>

#include <tessera/tessera.h>

static void check(int code) {
  if (code != 0) {
    fprintf(stderr, "%s\n", tessera_last_error());
    exit(1);
  }
}

int main(void) {
  const int64_t extents[2] = {12, 12};
  double local[6][8]; /* columns 2 to 6 are sent; rows are 8 elements apart */
  const int64_t strides[2] = {8, 1};
  const int64_t lo[2] = {3, 4};
  const int64_t hi[2] = {9, 9};
  const int64_t steps[2] = {2, 2};
  const int64_t over_lo[2] = {-1, -1}; /* over the corner (0, 0), where all four corners meet */
  const int64_t over_hi[2] = {1, 1};
  const int64_t both_dimensions = 1 << 0 | 1 << 1;
  double found[6][5];
  double every_second[3][3];
  double corner[2][2];
  int64_t rank = 0;
  int64_t size = 0;
  int good = 1;
  tessera_job* job = NULL;
  tessera_array* a = NULL;

  check(tessera_job_start(&job));
  check(tessera_job_rank(job, &rank));
  check(tessera_job_size(job, &size));
  check(tessera_array_create(job, TESSERA_F64, 2, extents, NULL, &a));
  for (int place = 0; place < 6 * 8; ++place) {
    local[place / 8][place % 8] = 10 * (place / 8) + place % 8;
  }
  if (rank == 0) {
    check(tessera_array_put(a, lo, hi, &local[0][2], strides));
    check(tessera_array_put_element(a, (int64_t[]){11, 11}, &local[5][7]));
  }
  check(tessera_array_sync(a)); /* the data arrive before others add to them */
  check(tessera_array_accumulate(a, lo, hi, &local[0][2], strides, NULL));
  check(tessera_array_sync(a));

  check(tessera_array_get(a, lo, hi, found, NULL));
  check(tessera_array_get_section(a, lo, hi, steps, every_second, NULL, NULL));
  check(tessera_array_get_periodic(a, over_lo, over_hi, both_dimensions, corner, NULL, NULL));
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 5; ++j) {
      good = good && found[i][j] == (double)(size + 1) * local[i][j + 2];
      good = good && (i % 2 || j % 2 || every_second[i / 2][j / 2] == found[i][j]);
    }
  }
  good = good && corner[0][0] == 57 && corner[1][1] == 0; /* a(11, 11) and a(0, 0) */
  if (rank == 0) {
    printf("a(3, 4) = %g, a(5, 6) = %g, a(-1, -1) = %g\n", found[0][0], every_second[1][1],
           corner[0][0]);
  }
  check(tessera_array_free(&a));
  check(tessera_job_free(&job));
  return good ? 0 : 1;
}
