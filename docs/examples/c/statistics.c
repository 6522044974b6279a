/* SPDX-License-Identifier: BSD-3-Clause
 * Statistics whose bits don't depend on the number of ranks: random numbers by seed and index, and
 * sums that are rounded once. Then lists by a mask, packing and running sums.
 *     build/bin/tessera-run -n 4 build/docs/examples/c/statistics
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

/* A mask of the positive elements. */
static void mark_positive(int64_t count, const void* const in[], const int64_t strides[],
                          void* result, int64_t stride, void* context) {
  const double* const value = in[0];
  (void)context;
  for (int64_t i = 0; i < count; ++i) {
    ((int64_t*)result)[i * stride] = value[i * strides[0]] > 0;
  }
}

int main(void) {
  const int64_t n = 100000;
  const int64_t last = n - 1;
  double sum = 0, square = 0, smallest = 0;
  int64_t positive = 0, at = 0, before_last = 0;
  int64_t rank = 0;
  tessera_job* job = NULL;
  tessera_array *x = NULL, *chosen = NULL, *mask = NULL, *segments = NULL, *places = NULL;

  check(tessera_job_start(&job));
  check(tessera_job_rank(job, &rank));
  check(tessera_array_create(job, TESSERA_F64, 1, &n, NULL, &x));
  check(tessera_array_create(job, TESSERA_F64, 1, &n, NULL, &chosen));
  check(tessera_array_create(job, TESSERA_I64, 1, &n, NULL, &mask));
  check(tessera_array_create(job, TESSERA_I64, 1, &n, NULL, &segments));
  check(tessera_array_create(job, TESSERA_I64, 1, &n, NULL, &places));
  const tessera_part all = tessera_part_whole(x), marks = tessera_part_whole(mask);

  check(tessera_array_fill_random(all, 42, -1, 1));
  check(tessera_array_sum(all, 1, &sum)); /* 1: reproducible */
  check(tessera_array_dot(all, all, 1, &square));
  const double mean = sum / (double)n;
  const double variance = square / (double)n - mean * mean;

  check(tessera_array_transform(1, &all, mark_positive, NULL, marks));
  check(tessera_array_pack(all, marks, tessera_part_whole(chosen), &positive));
  check(tessera_array_select_min(tessera_part_box(chosen, (int64_t[]){0}, &positive), &smallest,
                                 &at));
  /* The number of positive elements up to each element. A mask could begin segments. */
  check(tessera_array_scan_add(marks, tessera_part_whole(segments), tessera_part_whole(places),
                               TESSERA_INCLUSIVE));
  check(tessera_array_get_element(places, &last, &before_last));
  if (rank == 0) {
    printf("mean %.17g, variance %.17g\n", mean, variance);
    printf("%d are positive, the smallest of them is %g\n", (int)positive, smallest);
  }
  check(tessera_job_barrier(job)); /* all have read */
  check(tessera_job_free(&job));
  const int is_known = mean == 0.0027883678285830762; /* on any number of ranks */
  return is_known && fabs(variance - 1.0 / 3) < 0.005 && before_last == positive && smallest > 0
             ? 0
             : 1;
}
