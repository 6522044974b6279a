/* SPDX-License-Identifier: BSD-3-Clause
 * One matrix in two distributions: a block for each rank, and ScaLAPACK's cyclic blocks, in which
 * each rank has a dense column-major matrix that ScaLAPACK could work on.
 *     build/bin/tessera-run -n 4 build/docs/examples/c/redistribute
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
  const int64_t extents[2] = {10, 8};
  const int64_t block[2] = {2, 2};
  const double plus = 1;
  const double minus = -1;
  char text[2000];
  int64_t grid[2] = {0, 0};
  int64_t local[2] = {0, 0};
  int64_t rank = 0;
  int64_t size = 0;
  double difference = 0;
  double first = 0;
  tessera_job* job = NULL;
  tessera_distribution* cyclic = NULL;
  tessera_array *blocks = NULL, *dealt = NULL, *back = NULL;

  check(tessera_job_start(&job));
  check(tessera_job_rank(job, &rank));
  check(tessera_job_size(job, &size));
  check(tessera_array_create(job, TESSERA_F64, 2, extents, NULL, &blocks));
  check(tessera_array_duplicate(blocks, "back", &back));
  check(tessera_process_grid_choose(size, 2, extents, NULL, grid));
  check(tessera_distribution_scalapack(job, size, 2, extents, block, grid, TESSERA_COLUMN_MAJOR,
                                       &cyclic));
  check(tessera_array_create_distributed(job, TESSERA_F64, cyclic, NULL, &dealt));

  /* There and back: the library finds the owners. */
  check(tessera_array_fill_random(tessera_part_whole(blocks), 5, 0, 1));
  check(tessera_array_copy(tessera_part_whole(blocks), tessera_part_whole(dealt)));
  check(tessera_array_copy(tessera_part_whole(dealt), tessera_part_whole(back)));

  /* Rank 0's local matrix begins with the first element of the whole matrix. */
  if (rank == 0) {
    tessera_local_block own;
    tessera_access* access = NULL;
    check(tessera_access_begin(dealt, 0, &own, &access));
    first = *(const double*)own.data;
    check(tessera_access_end(&access));
    check(tessera_array_get_element(blocks, (int64_t[]){0, 0}, &difference));
    first -= difference;
    check(tessera_distribution_local_extents(cyclic, 0, local));
    check(tessera_distribution_print(cyclic, 6, text, sizeof text, NULL));
    printf("%srank 0 has %d x %d elements as one matrix\n", text, (int)local[0], (int)local[1]);
  }
  const tessera_part rest = tessera_part_whole(back);
  check(tessera_array_add(&plus, tessera_part_whole(blocks), &minus, rest, rest));
  check(tessera_array_norm_max(rest, &difference));
  check(tessera_job_free(&job));
  return difference == 0 && first == 0 ? 0 : 1;
}
