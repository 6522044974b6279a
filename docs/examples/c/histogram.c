/* SPDX-License-Identifier: BSD-3-Clause
 * A histogram with bins on all ranks: each rank adds to any bins by a list of places, and reads
 * some of them.
 *     build/bin/tessera-run -n 4 build/docs/examples/c/histogram
 */
#include <stdio.h>
#include <stdlib.h>

#include <tessera/tessera.h>

enum { samples = 10000, dice = 3, bins = 6 * dice + 1 };

static void check(int code) {
  if (code != 0) {
    fprintf(stderr, "%s\n", tessera_last_error());
    exit(1);
  }
}

/* The sum of some dice; each rank throws its own. */
static int64_t throw_dice(int64_t rank, int64_t sample) {
  const uint32_t counter[4] = {(uint32_t)sample, (uint32_t)rank, 0, 0};
  const uint32_t seed[2] = {1, 2};
  uint32_t words[4];
  int64_t sum = 0;
  check(tessera_random_words(counter, seed, words));
  for (int i = 0; i < dice; ++i) {
    sum += 1 + words[i] % 6;
  }
  return sum;
}

int main(void) {
  static int64_t places[samples];
  static int64_t ones[samples];
  const int64_t asked[4] = {3, 10, 11, 18}; /* in any order, with any owners */
  const int64_t extent = bins;
  int64_t counts[4];
  int64_t total = 0;
  int64_t rank = 0;
  int64_t size = 0;
  tessera_job* job = NULL;
  tessera_array* histogram = NULL;

  check(tessera_job_start(&job));
  check(tessera_job_rank(job, &rank));
  check(tessera_job_size(job, &size));
  check(tessera_array_create(job, TESSERA_I64, 1, &extent, NULL, &histogram));
  for (int i = 0; i < samples; ++i) {
    places[i] = throw_dice(rank, i);
    ones[i] = 1;
  }
  check(tessera_array_scatter_accumulate(histogram, samples, places, ones, NULL));
  check(tessera_array_sync(histogram));

  check(tessera_array_gather(histogram, 4, asked, counts));
  check(tessera_array_sum(tessera_part_whole(histogram), 0, &total));
  if (rank == 0) {
    for (int i = 0; i < 4; ++i) {
      printf("%2d came %5d times, %.2f %%\n", (int)asked[i], (int)counts[i],
             100.0 * (double)counts[i] / (double)total);
    }
  }
  const double expected = (double)total * 27 / 216; /* of the sums 10 and 11 */
  const int good = total == size * samples && counts[0] < counts[1] && counts[3] < counts[2] &&
                   counts[1] > 0.9 * expected && counts[1] < 1.1 * expected;
  check(tessera_array_free(&histogram));
  check(tessera_job_free(&job));
  return good ? 0 : 1;
}
