/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include <tessera/tessera.h>

/* Every rank adds 0.5 to a patch. True when all went well. */
static int add_to_patch(tessera_job* job, double* result) {
  const int64_t extents[2] = {1000, 1000};
  const int64_t lo[2] = {400, 400};
  const int64_t hi[2] = {402, 402};
  const int64_t place[2] = {401, 401};
  const double ones[4] = {1, 1, 1, 1};
  const double half = 0.5;
  tessera_array* a = NULL;
  return tessera_array_create(job, TESSERA_F64, 2, extents, NULL, &a) == 0 &&
         tessera_array_accumulate(a, lo, hi, ones, NULL, &half) == 0 &&
         tessera_array_sync(a) == 0 && tessera_array_get_element(a, place, result) == 0;
}

int main(void) {
  tessera_job* job = NULL;
  int64_t ranks = 0;
  double result = 0;
  if (tessera_job_start(&job) != 0 || tessera_job_size(job, &ranks) != 0 ||
      !add_to_patch(job, &result)) {
    fprintf(stderr, "%s\n", tessera_last_error());
    return 1;
  }
  printf("a(401, 401) = %g\n", result);
  tessera_job_free(&job);
  return result == 0.5 * (double)ranks ? 0 : 1;
}
