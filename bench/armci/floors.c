// SPDX-License-Identifier: BSD-3-Clause
#define _GNU_SOURCE
#include "bench/armci/floors.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench/armci/kernels.h"
#include "bench/armci/tcp.h"

enum { here_salt = 1, there_salt = 2 };

/// Two mappings: private, as a user's memory, and shared, as the ranks of a node share memory.
struct mappings {
  char* own;
  char* shared;
};

static char* map(int sharing) {
  void* bytes = mmap(NULL, max_bytes, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0);
  if (bytes == MAP_FAILED) {
    fail("cannot map memory");
  }
  memset(bytes, 0, max_bytes);
  return bytes;
}

static struct mappings make_mappings(void) {
  const struct mappings mappings = {map(MAP_PRIVATE), map(MAP_SHARED)};
  return mappings;
}

static void drop_mappings(struct mappings mappings) {
  munmap(mappings.own, max_bytes);
  munmap(mappings.shared, max_bytes);
}

/// A loop and its data.
struct loop {
  struct rows rows;
  double** to;
  double** from;
};

static void copy_in_rows(void* context, long repetitions) {
  const struct loop* loop = context;
  for (long i = 0; i < repetitions; ++i) {
    copy_rows(&loop->rows);
  }
}

static void add_in_rows(void* context, long repetitions) {
  const struct loop* loop = context;
  for (long i = 0; i < repetitions; ++i) {
    add_rows(&loop->rows);
  }
}

static void copy_in_words(void* context, long repetitions) {
  const struct loop* loop = context;
  for (long i = 0; i < repetitions; ++i) {
    copy_words(loop->to, loop->from, loop->rows.count);
  }
}

static void add_in_words(void* context, long repetitions) {
  const struct loop* loop = context;
  for (long i = 0; i < repetitions; ++i) {
    add_words(loop->to, loop->from, loop->rows.count);
  }
}

static struct loop make_loop(const struct shape* shape, struct mappings mappings) {
  const size_t rows = (size_t)shape->rows;
  struct loop loop = {{mappings.shared, mappings.own, shape->rows, shape->row_bytes, shape->stride},
                      malloc(rows * sizeof(double*)),
                      malloc(rows * sizeof(double*))};
  if (loop.to == NULL || loop.from == NULL) {
    fail("out of memory");
  }
  for (long row = 0; row < shape->rows; ++row) {
    loop.to[row] = (double*)(void*)(mappings.shared + remote_offset(shape, row));
    loop.from[row] = (double*)(void*)(mappings.own + local_offset(shape, row));
  }
  return loop;
}

static bool brings_right_data(struct bench* bench, const struct shape* shape,
                              const struct subject* subject, struct mappings mappings) {
  const long extent = extent_of(shape);
  struct memory* memory = &bench->memory;
  fill(mappings.own, extent, here_salt);
  fill(mappings.shared, extent, there_salt);
  fill(memory->model_local, extent, here_salt);
  fill(memory->model_remote, extent, there_salt);
  apply_shape(shape, memory->model_local, memory->model_remote);
  subject->run(subject->context, 1);
  return memcmp(mappings.shared, memory->model_remote, (size_t)extent) == 0;
}

void measure_memory_baseline(struct bench* bench, const char* name, const struct shape* shape) {
  const struct mappings mappings = make_mappings();
  struct loop loop = make_loop(shape, mappings);
  const bool adds = shape->operation == operation_accumulate;
  struct subject subject = {NULL, adds ? add_in_rows : copy_in_rows, &loop};
  if (shape->scattered) {
    subject.run = adds ? add_in_words : copy_in_words;
  }
  struct result result = {name, shape->rows * shape->row_bytes, "ns", "ok", "", {0, {0}}};
  if (brings_right_data(bench, shape, &subject, mappings)) {
    take_samples(&bench->options.method, &subject, &result.samples);
  } else {
    result.state = "wrong";
  }
  report(bench, &result);
  free(loop.to);
  free(loop.from);
  drop_mappings(mappings);
}

static void add_word(void* context, long repetitions) {
  atomic_long* word = context;
  for (long i = 0; i < repetitions; ++i) {
    atomic_fetch_add(word, 1);
  }
}

static void swap_word(void* context, long repetitions) {
  atomic_long* word = context;
  long mine = 1;
  for (long i = 0; i < repetitions; ++i) {
    mine = atomic_exchange(word, mine);
  }
}

static void lock_word(void* context, long repetitions) {
  atomic_long* word = context;
  for (long i = 0; i < repetitions; ++i) {
    long is_free = 0;
    atomic_compare_exchange_strong(word, &is_free, 1);
    atomic_exchange(word, 0);
  }
}

void measure_word_baseline(struct bench* bench, const char* name, enum word_baseline floor) {
  static void (*const runs[])(void*, long) = {
      [baseline_add] = add_word, [baseline_swap] = swap_word, [baseline_lock] = lock_word};
  const struct mappings mappings = make_mappings();
  const struct subject subject = {NULL, runs[floor], mappings.shared};
  struct result result = {name, sizeof(long), "ns", "ok", "", {0, {0}}};
  take_samples(&bench->options.method, &subject, &result.samples);
  report(bench, &result);
  drop_mappings(mappings);
}

/// A connection and the data sent over it.
struct traffic {
  struct tcp tcp;
  char* bytes;
  long count;
};

static void ask(void* context, long repetitions) {
  const struct traffic* traffic = context;
  for (long i = 0; i < repetitions; ++i) {
    request_tcp(traffic->tcp, traffic->bytes, traffic->count);
  }
}

static void announce(void* context, long repetitions) {
  const struct traffic* traffic = context;
  announce_tcp(traffic->tcp, repetitions * traffic->count);
}

static void stream(void* context, long repetitions) {
  const struct traffic* traffic = context;
  for (long i = 0; i < repetitions; ++i) {
    send_tcp(traffic->tcp, traffic->bytes, traffic->count);
  }
  wait_for_arrival_tcp(traffic->tcp);
}

// The streamed data are also those of the replies, so that a later request can check them.
static bool traffic_is_right(struct bench* bench, struct traffic* traffic,
                             const struct subject* subject) {
  fill(bench->memory.model_local, traffic->count, tcp_salt);
  memcpy(traffic->bytes, bench->memory.model_local, (size_t)traffic->count);
  (void)time_batch(subject, 1);
  fill(traffic->bytes, traffic->count, here_salt);
  ask(traffic, 1);
  return memcmp(traffic->bytes, bench->memory.model_local, (size_t)traffic->count) == 0;
}

void measure_tcp_baseline(struct bench* bench, const char* name, enum tcp_baseline floor,
                          long bytes) {
  const struct mappings mappings = make_mappings();
  struct traffic traffic = {open_tcp(floor != baseline_tcp_blocking), mappings.own, bytes};
  const bool streams = floor == baseline_tcp_stream;
  const struct subject subject = {streams ? announce : NULL, streams ? stream : ask, &traffic};
  struct result result = {name, bytes, "ns", "ok", "", {0, {0}}};
  if (traffic_is_right(bench, &traffic, &subject)) {
    take_samples(&bench->options.method, &subject, &result.samples);
  } else {
    result.state = "wrong";
  }
  report(bench, &result);
  close_tcp(traffic.tcp);
  drop_mappings(mappings);
}
