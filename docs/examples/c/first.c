/* SPDX-License-Identifier: BSD-3-Clause
 * A first program: a 1000 x 1000 array over all ranks; each rank adds to one patch of it.
 *     build/bin/tessera-run -n 4 build/docs/examples/c/first
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
  static double ones[200][200];
  const int64_t extents[2] = {1000, 1000};
  const int64_t lo[2] = {400, 400}; /* rows and columns 400 to 599, on any ranks */
  const int64_t hi[2] = {600, 600};
  const int64_t at[2] = {500, 500};
  const double half = 0.5;
  double value = 0;
  int64_t rank = 0;
  int64_t size = 0;
  tessera_job* job = NULL;
  tessera_array* a = NULL;

  check(tessera_job_start(&job));
  check(tessera_job_rank(job, &rank));
  check(tessera_job_size(job, &size));
  check(tessera_array_create(job, TESSERA_F64, 2, extents, NULL, &a));
  for (int i = 0; i < 200 * 200; ++i) {
    ones[i / 200][i % 200] = 1;
  }
  check(tessera_array_accumulate(a, lo, hi, ones, NULL, &half)); /* a += 0.5 * ones */
  check(tessera_array_sync(a));                                  /* all ranks see all additions */
  check(tessera_array_get_element(a, at, &value));
  if (rank == 0) {
    printf("%d ranks, a(500, 500) = %g\n", (int)size, value);
  }
  check(tessera_array_free(&a));
  check(tessera_job_free(&job));
  return value == 0.5 * (double)size ? 0 : 1;
}
