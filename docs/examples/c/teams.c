/* SPDX-License-Identifier: BSD-3-Clause
 * Teams: two halves of the ranks work on arrays of their own at the same time; then all ranks
 * combine both results.
 *     build/bin/tessera-run -n 4 build/docs/examples/c/teams
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <tessera/tessera.h>

static void check(int code) {
  if (code != 0) {
    fprintf(stderr, "%s\n", tessera_last_error());
    exit(1);
  }
}

/* The sums of 1 / k^2 and 1 / k^3 are known. */
static void invert_powers(int64_t count, const void* const in[], const int64_t strides[],
                          void* result, int64_t stride, void* power) {
  const double* const number = in[0];
  for (int64_t i = 0; i < count; ++i) {
    ((double*)result)[i * stride] = pow(number[i * strides[0]], -*(const int*)power);
  }
}

int main(void) {
  const int64_t terms = 100000;
  const double one = 1;
  double sums[2] = {0, 0};
  int64_t rank = 0;
  int64_t size = 0;
  int64_t member = 0;
  int64_t members = 0;
  tessera_job* job = NULL;
  tessera_team* world = NULL;
  tessera_team* half = NULL;
  tessera_array* series = NULL;
  tessera_array_options options;

  check(tessera_job_start(&job));
  check(tessera_job_rank(job, &rank));
  check(tessera_job_size(job, &size));
  check(tessera_team_world(job, &world));

  /* The ranks with the same colour are a team. With one rank there is only the second half. */
  const int is_first = rank < size / 2;
  int power = is_first ? 2 : 3;
  check(tessera_team_split(world, is_first ? 0 : 1, rank, &half));
  check(tessera_team_rank(half, &member));
  check(tessera_team_size(half, &members));

  tessera_array_options_init(&options);
  options.name = is_first ? "squares" : "cubes";
  options.team = half;
  check(tessera_array_create(job, TESSERA_F64, 1, &terms, &options, &series));
  const tessera_part whole = tessera_part_whole(series);
  check(tessera_array_enumerate(whole, &one, &one)); /* 1, 2, 3, ... */
  check(tessera_array_transform(1, &whole, invert_powers, &power, whole));
  check(tessera_array_sum(whole, 1, &sums[is_first ? 0 : 1]));
  printf("rank %d is member %d of %d for the %s\n", (int)rank, (int)member, (int)members,
         options.name);
  check(tessera_array_free(&series));

  check(tessera_team_allreduce(world, sums, 2, TESSERA_F64, TESSERA_MAX));
  if (rank == 0) {
    printf("the squares come to %.5f, the cubes to %.5f\n", sums[0], sums[1]);
  }
  check(tessera_job_free(&job));
  return fabs(sums[1] - 1.2020569) < 1e-6 && (size == 1 || fabs(sums[0] - 1.6449341) < 2e-5) ? 0
                                                                                             : 1;
}
