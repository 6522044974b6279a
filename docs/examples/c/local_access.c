/* SPDX-License-Identifier: BSD-3-Clause
 * Own elements without copies: each rank loads and stores its part of a = b + s c, as the STREAM
 * benchmark does, and prints how fast that was.
 *     build/bin/tessera-run -n 4 build/docs/examples/c/local_access
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <tessera/tessera.h>

enum { repeats = 10 };

static void check(int code) {
  if (code != 0) {
    fprintf(stderr, "%s\n", tessera_last_error());
    exit(1);
  }
}

static double seconds(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(void) {
  const int64_t length = 1000000;
  const double s = 3;
  const double start[3] = {0, 1, 2};
  const double right = 1 + 3 * 2;
  int64_t at = 0;
  double least = 0;
  double most = 0;
  int64_t rank = 0;
  tessera_job* job = NULL;
  tessera_array* arrays[3] = {NULL, NULL, NULL};
  tessera_access* access[3] = {NULL, NULL, NULL};
  tessera_local_block block[3];

  check(tessera_job_start(&job));
  check(tessera_job_rank(job, &rank));
  for (int i = 0; i < 3; ++i) {
    check(tessera_array_create(job, TESSERA_F64, 1, &length, NULL, &arrays[i]));
    check(tessera_array_fill(tessera_part_whole(arrays[i]), &start[i]));
    check(tessera_access_begin(arrays[i], 0, &block[i], &access[i]));
  }
  /* Until the access ends, these point to ordinary memory of this process. */
  double* const a = block[0].data;
  const double* const b = block[1].data;
  const double* const c = block[2].data;
  const int64_t own = block[0].hi[0] - block[0].lo[0];
  check(tessera_job_barrier(job));
  const double begin = seconds();
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (int64_t i = 0; i < own; ++i) {
      a[i] = b[i] + s * c[i];
    }
  }
  check(tessera_job_barrier(job));
  const double bytes = 3.0 * sizeof(double) * (double)length * repeats;
  const double rate = bytes / (seconds() - begin);
  for (int i = 0; i < 3; ++i) {
    check(tessera_access_end(&access[i]));
  }

  check(tessera_array_select_min(tessera_part_whole(arrays[0]), &least, &at));
  check(tessera_array_select_max(tessera_part_whole(arrays[0]), &most, &at));
  if (rank == 0) {
    printf("all elements are %g; %.1f GB/s by all ranks together\n", most, rate / 1e9);
  }
  check(tessera_job_free(&job));
  return least == right && most == right ? 0 : 1;
}
