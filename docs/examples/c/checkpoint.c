/* SPDX-License-Identifier: BSD-3-Clause
 * A simulation that continues where its last run stopped, also on another number of ranks. Each
 * step adds random numbers; the result is the same however the steps are divided into runs.
 *     build/bin/tessera-run -n 4 build/docs/examples/c/checkpoint run.h5 10
 *     build/bin/tessera-run -n 3 build/docs/examples/c/checkpoint run.h5 20
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
static void grow(tessera_array* a, tessera_array* random, int64_t step) {
  const double one = 1;
  const tessera_part sum = tessera_part_whole(a), more = tessera_part_whole(random);
  check(tessera_array_fill_random(more, (uint64_t)step, 0, 1));
  check(tessera_array_add(&one, sum, &one, more, sum));
}
/* Reads the state that an earlier run wrote to `path`. Returns its step. */
static int64_t read_state(tessera_job* job, const char* path, tessera_array* a) {
  tessera_checkpoint* file = NULL;
  int64_t step = 0;
  check(tessera_checkpoint_open(job, NULL, path, &file));
  check(tessera_checkpoint_read_into(file, "A", a));
  check(tessera_checkpoint_integer(file, "step", &step));
  check(tessera_checkpoint_free(&file));
  return step;
}
/* The old file stays until the new one is complete. */
static void write_state(tessera_job* job, const char* path, tessera_array* a, int64_t step) {
  tessera_checkpoint_writer* writer = NULL;
  check(tessera_checkpoint_writer_create(job, NULL, path, NULL, &writer));
  check(tessera_checkpoint_writer_add(writer, a, "A"));
  check(tessera_checkpoint_writer_add_integer(writer, "step", step));
  check(tessera_checkpoint_writer_commit(writer));
  check(tessera_checkpoint_writer_free(&writer));
}

int main(int argc, char** argv) {
  const char* const path = argc > 1 ? argv[1] : "run.h5";
  const int64_t last = argc > 2 ? atoll(argv[2]) : 10, extents[2] = {300, 200};
  const double plus = 1, minus = -1;
  double difference = 0;
  int64_t rank = 0;
  tessera_job* job = NULL;
  tessera_team* world = NULL;
  tessera_array *a = NULL, *random = NULL, *b = NULL;
  check(tessera_job_start(&job));
  check(tessera_job_rank(job, &rank));
  check(tessera_team_world(job, &world));
  check(tessera_array_create(job, TESSERA_F64, 2, extents, NULL, &a));
  check(tessera_array_duplicate(a, "random", &random));
  check(tessera_array_duplicate(a, "B", &b));

  FILE* const file = rank == 0 ? fopen(path, "rb") : NULL; /* rank 0 checks, so that all agree */
  int32_t is_there = file != NULL;
  check(tessera_team_broadcast(world, &is_there, sizeof is_there, 0));
  const int64_t first = is_there ? read_state(job, path, a) : 0;
  for (int64_t step = first; step < last; ++step) {
    grow(a, random, step);
  }
  write_state(job, path, a, last);

  for (int64_t step = 0; step < last; ++step) { /* the same steps in one run */
    grow(b, random, step);
  }
  const tessera_part by_one = tessera_part_whole(b);
  check(tessera_array_add(&plus, tessera_part_whole(a), &minus, by_one, by_one));
  check(tessera_array_norm_max(by_one, &difference));
  if (rank == 0) {
    printf("step %d to %d; difference to one run: %g\n", (int)first, (int)last, difference);
  }
  check(tessera_job_free(&job));
  return difference == 0 ? 0 : 1;
}
