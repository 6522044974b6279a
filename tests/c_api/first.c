/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The smallest program that does something on each rank, in the language that C and C++ share. What
 * is installed is tried with it.
 */
#include <inttypes.h>
#include <stdio.h>

#include <tessera/tessera.h>

static int run(tessera_job* job) {
  tessera_array_options options;
  tessera_array* array = NULL;
  int64_t ranks = 0;
  int64_t rank = 0;
  double sum = 0;
  const int64_t extents[2] = {100, 50};
  const double value = 0.5;
  tessera_array_options_init(&options);
  options.name = "A";
  int code = tessera_job_size(job, &ranks);
  code = code != 0 ? code : tessera_job_rank(job, &rank);
  code = code != 0 ? code : tessera_array_create(job, TESSERA_F64, 2, extents, &options, &array);
  code = code != 0 ? code : tessera_array_fill(tessera_part_whole(array), &value);
  code = code != 0 ? code : tessera_array_sum(tessera_part_whole(array), 0, &sum);
  code = code != 0 ? code : tessera_array_free(&array);
  if (code == 0 && rank == 0) {
    printf("%" PRId64 " ranks: the sum is %g\n", ranks, sum);
  }
  return code;
}

int main(void) {
  tessera_job* job = NULL;
  int code = tessera_job_start(&job);
  code = code != 0 ? code : run(job);
  if (code != 0) {
    fprintf(stderr, "%s: %s\n", tessera_error_name(code), tessera_last_error());
  }
  return tessera_job_free(&job) != 0 || code != 0;
}
