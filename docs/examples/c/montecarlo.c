/* SPDX-License-Identifier: BSD-3-Clause
 * Tasks from a shared counter: a free rank takes the next one. A task throws darts at a square; its
 * random numbers depend on the task alone, so the result is the same on any number of ranks.
 *     build/bin/tessera-run -n 4 build/docs/examples/c/montecarlo
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <tessera/tessera.h>

enum { tasks = 100, darts = 10000 };

static void check(int code) {
  if (code != 0) {
    fprintf(stderr, "%s\n", tessera_last_error());
    exit(1);
  }
}

/* Counts a task's darts in the quarter circle: a dart takes two of each four random words. */
static int64_t throw_darts(uint32_t task) {
  const uint32_t seed[2] = {2024, 7};
  int64_t hits = 0;
  for (uint32_t dart = 0; dart < darts; dart += 2) {
    const uint32_t counter[4] = {dart, task, 0, 0};
    uint32_t words[4];
    check(tessera_random_words(counter, seed, words));
    for (int i = 0; i < 4; i += 2) {
      const double x = words[i] / 4294967296.0;
      const double y = words[i + 1] / 4294967296.0;
      hits += x * x + y * y < 1;
    }
  }
  return hits;
}

int main(void) {
  int64_t rank = 0;
  int64_t task = 0;
  int64_t mine = 0;
  int64_t hits = 0;
  tessera_job* job = NULL;
  tessera_team* world = NULL;
  tessera_counter* counter = NULL;

  check(tessera_job_start(&job));
  check(tessera_job_rank(job, &rank));
  check(tessera_team_world(job, &world));
  check(tessera_counter_create(world, 0, &counter));
  for (check(tessera_counter_next(counter, 1, &task)); task < tasks;
       check(tessera_counter_next(counter, 1, &task))) {
    hits += throw_darts((uint32_t)task);
    ++mine;
  }
  check(tessera_team_allreduce(world, &hits, 1, TESSERA_I64, TESSERA_SUM));

  const double pi = 4.0 * (double)hits / tasks / darts;
  printf("rank %d did %d tasks\n", (int)rank, (int)mine);
  if (rank == 0) {
    printf("pi is about %.4f\n", pi);
  }
  check(tessera_counter_free(&counter));
  check(tessera_job_free(&job));
  return fabs(pi - 3.14159) < 0.01 ? 0 : 1;
}
