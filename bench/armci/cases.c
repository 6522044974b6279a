// SPDX-License-Identifier: BSD-3-Clause
#define _POSIX_C_SOURCE 200809L
#include "bench/armci/cases.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/armci/floors.h"
#include "bench/armci/live.h"
#include "bench/armci/progress.h"
#include "bench/armci/shape.h"
#include "bench/armci/synchronisation.h"
#include "bench/armci/transfers.h"

enum { scattered_doubles = 1000, word = 8 };

static const char* const operation_names[operations] = {"put", "get", "acc"};
static const long sizes[] = {8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20, 2 << 20, 4 << 20};
static const long row_sizes[] = {16, 1 << 10};
static const long live_counts[] = {1, 64, 5000};
static const long row_counts[] = {1, 4, 16, 64, 256, 512, 1024};
/// The sizes of all cases, so that each has its baseline.
static const long tcp_sizes[] = {8,         16,        64,      256,      512,      1 << 10,
                                 4 << 10,   8000,      8 << 10, 16 << 10, 32 << 10, 64 << 10,
                                 256 << 10, 512 << 10, 1 << 20, 2 << 20,  4 << 20};

enum {
  sizes_n = sizeof sizes / sizeof sizes[0],
  row_sizes_n = sizeof row_sizes / sizeof row_sizes[0],
  live_counts_n = sizeof live_counts / sizeof live_counts[0],
  row_counts_n = sizeof row_counts / sizeof row_counts[0],
  tcp_sizes_n = sizeof tcp_sizes / sizeof tcp_sizes[0]
};

// Whether a name matches one of the patterns.
static bool matches(const char* patterns, const char* name) {
  char* const copy = strdup(patterns);
  char* rest = NULL;
  bool found = false;
  for (char* one = strtok_r(copy, ",", &rest); one != NULL && !found;
       one = strtok_r(NULL, ",", &rest)) {
    found = fnmatch(one, name, 0) == 0;
  }
  free(copy);
  return found;
}

// Whether the case of this name is to be measured now.
static bool is_wanted(const struct bench* bench, const char* name) {
  if (!matches(bench->options.cases, name)) {
    return false;
  }
  if (bench->options.lists) {
    puts(name);
    return false;
  }
  return true;
}

static struct shape contiguous(enum operation operation, long bytes) {
  const struct shape shape = {operation, 1, bytes, bytes, false};
  return shape;
}

static struct shape strided(enum operation operation, long row_bytes, long rows) {
  const struct shape shape = {operation, rows, row_bytes, 2 * row_bytes, false};
  return shape;
}

static struct shape scattered(enum operation operation) {
  const struct shape shape = {operation, scattered_doubles, word, 2 * word, true};
  return shape;
}

static void run_contiguous(struct bench* bench, enum operation operation) {
  char name[name_length];
  for (int i = 0; i < sizes_n; ++i) {
    const struct shape shape = contiguous(operation, sizes[i]);
    snprintf(name, sizeof name, "%s/%ld", operation_names[operation], sizes[i]);
    if (is_wanted(bench, name)) {
      measure_transfer(bench, name, layout_contiguous, &shape);
    }
  }
}

static void run_strided(struct bench* bench, enum operation operation) {
  char name[name_length];
  for (int i = 0; i < row_sizes_n * row_counts_n; ++i) {
    const long row_bytes = row_sizes[i / row_counts_n];
    const long rows = row_counts[i % row_counts_n];
    const struct shape shape = strided(operation, row_bytes, rows);
    snprintf(name, sizeof name, "%s_strided/%ldx%ld", operation_names[operation], row_bytes, rows);
    if (is_wanted(bench, name)) {
      measure_transfer(bench, name, layout_strided, &shape);
    }
  }
}

static void run_scattered(struct bench* bench, const char* prefix, enum layout layout,
                          enum operation operation) {
  char name[name_length];
  const struct shape shape = scattered(operation);
  snprintf(name, sizeof name, "%s/%d", prefix, scattered_doubles);
  if (is_wanted(bench, name)) {
    measure_transfer(bench, name, layout, &shape);
  }
}

static void run_transfers(struct bench* bench) {
  for (int operation = 0; operation < operations; ++operation) {
    run_contiguous(bench, (enum operation)operation);
  }
  for (int operation = 0; operation < operations; ++operation) {
    run_strided(bench, (enum operation)operation);
  }
  run_scattered(bench, "put_vector", layout_vector, operation_put);
  run_scattered(bench, "get_vector", layout_vector, operation_get);
  run_scattered(bench, "acc_vector", layout_vector, operation_accumulate);
  run_scattered(bench, "nb_get_implicit", layout_implicit, operation_get);
  run_scattered(bench, "nb_get_aggregate", layout_aggregate, operation_get);
}

static void run_synchronisation(struct bench* bench) {
  static const char* const names[atomics] = {"fetch_add_int/4", "fetch_add_long/8", "swap_int/4",
                                             "swap_long/8"};
  for (int atomic = 0; atomic < atomics; ++atomic) {
    if (is_wanted(bench, names[atomic])) {
      measure_atomic(bench, names[atomic], (enum atomic)atomic);
    }
  }
  if (is_wanted(bench, "lock_unlock/0")) {
    measure_lock(bench, "lock_unlock/0");
  }
  if (is_wanted(bench, "put_fence/8")) {
    measure_put_fence(bench, "put_fence/8");
  }
  if (is_wanted(bench, "barrier/0")) {
    measure_barrier(bench, "barrier/0");
  }
}

static void run_progress(struct bench* bench) {
  static const char* const names[] = {
      [in_receive] = "in_receive", [in_barrier] = "in_barrier", [computing] = "computing"};
  char name[name_length];
  for (int situation = in_receive; situation <= computing; ++situation) {
    snprintf(name, sizeof name, "%s.get/8", names[situation]);
    if (is_wanted(bench, name)) {
      measure_get_while(bench, name, (enum situation)situation);
    }
    snprintf(name, sizeof name, "%s.put_fence/8", names[situation]);
    if (is_wanted(bench, name)) {
      measure_put_fence_while(bench, name, (enum situation)situation);
    }
  }
  snprintf(name, sizeof name, "overlap_get/%d", max_bytes);
  if (is_wanted(bench, name)) {
    char hidden[name_length];
    snprintf(hidden, sizeof hidden, "overlap_hidden/%d", max_bytes);
    measure_overlap(bench, name, hidden);
  }
}

static void run_live(struct bench* bench) {
  char one[name_length];
  char each[name_length];
  for (int i = 0; i < live_counts_n; ++i) {
    snprintf(one, sizeof one, "get_one_of/%ld", live_counts[i]);
    snprintf(each, sizeof each, "get_each_of/%ld", live_counts[i]);
    const bool wants_one = is_wanted(bench, one);
    const bool wants_each = is_wanted(bench, each);
    if (wants_one || wants_each) {
      measure_live(bench, wants_one ? one : NULL, wants_each ? each : NULL, live_counts[i]);
    }
  }
}

static void run_memory_baseline(struct bench* bench, const char* name, struct shape shape) {
  if (is_wanted(bench, name)) {
    measure_memory_baseline(bench, name, &shape);
  }
}

static void run_memory_baselines(struct bench* bench, enum operation operation, const char* kind) {
  char name[name_length];
  for (int i = 0; i < sizes_n; ++i) {
    snprintf(name, sizeof name, "floor.%s/%ld", kind, sizes[i]);
    run_memory_baseline(bench, name, contiguous(operation, sizes[i]));
  }
  for (int i = 0; i < row_sizes_n * row_counts_n; ++i) {
    const long row_bytes = row_sizes[i / row_counts_n];
    const long rows = row_counts[i % row_counts_n];
    snprintf(name, sizeof name, "floor.%s_rows/%ldx%ld", kind, row_bytes, rows);
    run_memory_baseline(bench, name, strided(operation, row_bytes, rows));
  }
  snprintf(name, sizeof name, "floor.%s_words/%d", kind, scattered_doubles);
  run_memory_baseline(bench, name, scattered(operation));
}

static void run_live_baselines(struct bench* bench) {
  char name[name_length];
  for (int i = 0; i < live_counts_n; ++i) {
    snprintf(name, sizeof name, "floor.load_each_of/%ld", live_counts[i]);
    if (is_wanted(bench, name)) {
      measure_live_baseline(bench, name, live_counts[i]);
    }
  }
}

static void run_word_baselines(struct bench* bench) {
  static const char* const names[] = {[baseline_add] = "floor.xadd/8",
                                      [baseline_swap] = "floor.xchg/8",
                                      [baseline_lock] = "floor.two_atomics/8"};
  for (int floor = baseline_add; floor <= baseline_lock; ++floor) {
    if (is_wanted(bench, names[floor])) {
      measure_word_baseline(bench, names[floor], (enum word_baseline)floor);
    }
  }
}

static void run_tcp_baselines(struct bench* bench) {
  static const char* const names[] = {[baseline_tcp_polling] = "tcp_polling",
                                      [baseline_tcp_blocking] = "tcp_blocking",
                                      [baseline_tcp_stream] = "tcp_stream"};
  char name[name_length];
  for (int floor = baseline_tcp_polling; floor <= baseline_tcp_stream; ++floor) {
    for (int i = 0; i < tcp_sizes_n; ++i) {
      snprintf(name, sizeof name, "floor.%s/%ld", names[floor], tcp_sizes[i]);
      if (is_wanted(bench, name)) {
        measure_tcp_baseline(bench, name, (enum tcp_baseline)floor, tcp_sizes[i]);
      }
    }
  }
}

void run_cases(struct bench* bench) {
  run_memory_baselines(bench, operation_put, "memcpy");
  run_memory_baselines(bench, operation_accumulate, "axpy");
  run_word_baselines(bench);
  run_live_baselines(bench);
  run_tcp_baselines(bench);
  run_transfers(bench);
  run_synchronisation(bench);
  run_progress(bench);
  run_live(bench);
}
