// SPDX-License-Identifier: BSD-3-Clause
#include "bench/armci/progress.h"

#include <armci.h>
#include <string.h>

#include "bench/armci/target.h"
#include "bench/armci/transfers.h"

enum { word_bytes = sizeof(double), there_salt = 8, here_salt = 9 };

static const double ns_in_ms = 1e6;
/// The longest time that the target needs to reach the commanded state.
static const double settle_time_ns = 5e6;
/// A part of the time that the target computes. After it, no call starts; a call that took longer
/// has waited for the target's end.
static const double measured_part = 0.6;
static const double stalled_part = 0.5;

/// A small operation, and the check of its data.
struct small {
  void (*run)(void* bench, long repetitions);
  bool (*is_right)(struct bench* bench);
};

static void get_word(void* context, long repetitions) {
  const struct bench* bench = context;
  for (long i = 0; i < repetitions; ++i) {
    ARMCI_Get(bench->memory.remote, bench->memory.local, word_bytes, target_rank);
  }
}

static void put_word(void* context, long repetitions) {
  const struct bench* bench = context;
  for (long i = 0; i < repetitions; ++i) {
    ARMCI_Put(bench->memory.local, bench->memory.remote, word_bytes, target_rank);
    ARMCI_Fence(target_rank);
  }
}

static bool local_is(const struct bench* bench, const char* bytes, int salt) {
  fill(bench->memory.model_local, word_bytes, salt);
  return memcmp(bytes, bench->memory.model_local, word_bytes) == 0;
}

static bool word_was_got(struct bench* bench) {
  return local_is(bench, bench->memory.local, there_salt);
}

static bool word_was_put(struct bench* bench) {
  read_remote(bench, word_bytes);
  return local_is(bench, bench->memory.scratch, here_salt);
}

static const struct small get_small = {get_word, word_was_got};
static const struct small put_small = {put_word, word_was_put};

static void prepare_words(struct bench* bench) {
  set_remote(bench, word_bytes, there_salt);
  fill(bench->memory.local, word_bytes, here_salt);
}

static void measure_while_waiting(struct bench* bench, const struct small* small,
                                  enum situation situation, struct result* result) {
  const struct subject subject = {NULL, small->run, bench};
  if (situation == in_barrier) {
    command_target(command_barriers, 1);
    sleep_ns(settle_time_ns);
  }
  take_samples(&bench->options.method, &subject, &result->samples);
  if (situation == in_barrier) {
    ARMCI_Barrier();
  }
}

// The target computes for a bounded time. A first call shows whether it waits for the target.
static void measure_while_computing(struct bench* bench, const struct small* small,
                                    struct result* result) {
  const double busy_ns = bench->options.busy_ns;
  const struct subject subject = {NULL, small->run, bench};
  struct method method = bench->options.method;
  method.deadline_ns = now_ns() + measured_part * busy_ns;
  command_target(command_compute, (int)(busy_ns / ns_in_ms));
  sleep_ns(settle_time_ns);
  const double first = time_batch(&subject, 1);
  if (first > stalled_part * busy_ns) {
    result->state = "no progress";
    result->note = "the call returned only after the target had finished its computation";
    result->samples.count = 1;
    result->samples.value[0] = first;
  } else {
    take_samples(&method, &subject, &result->samples);
  }
  wait_for_reply();
}

static void measure_small(struct bench* bench, const char* name, const struct small* small,
                          enum situation situation) {
  struct result result = {name, word_bytes, "ns", "ok", "", {0, {0}}};
  if (situation == in_barrier && bench->job.ranks != 2) {
    result.state = "skipped";
    result.note = "needs exactly two ranks";
    report(bench, &result);
    return;
  }
  prepare_words(bench);
  if (situation == computing) {
    measure_while_computing(bench, small, &result);
  } else {
    measure_while_waiting(bench, small, situation, &result);
  }
  if (!small->is_right(bench)) {
    result.state = "wrong";
    result.note = "the word differs from what was sent";
  }
  report(bench, &result);
}

void measure_get_while(struct bench* bench, const char* name, enum situation situation) {
  measure_small(bench, name, &get_small, situation);
}

void measure_put_fence_while(struct bench* bench, const char* name, enum situation situation) {
  measure_small(bench, name, &put_small, situation);
}

/// Steps of a computation in registers, and whether a transfer runs at the same time.
struct overlap {
  struct bench* bench;
  long steps;
  unsigned long result;
};

static void compute_steps(struct overlap* overlap) {
  unsigned long x = overlap->result + 1;
  for (long i = 0; i < overlap->steps; ++i) {
    x = x * 6364136223846793005UL + 1442695040888963407UL;
  }
  overlap->result = x;
}

static void blocking(void* context, long repetitions) {
  const struct overlap* overlap = context;
  struct memory* memory = &overlap->bench->memory;
  for (long i = 0; i < repetitions; ++i) {
    ARMCI_Get(memory->remote, memory->local, max_bytes, target_rank);
  }
}

static void only_computing(void* context, long repetitions) {
  for (long i = 0; i < repetitions; ++i) {
    compute_steps(context);
  }
}

static void overlapped(void* context, long repetitions) {
  struct overlap* overlap = context;
  struct memory* memory = &overlap->bench->memory;
  for (long i = 0; i < repetitions; ++i) {
    armci_hdl_t handle;
    ARMCI_INIT_HANDLE(&handle);
    ARMCI_NbGet(memory->remote, memory->local, max_bytes, target_rank, &handle);
    compute_steps(overlap);
    ARMCI_Wait(&handle);
  }
}

// The number of steps that last about this long.
static void calibrate(struct overlap* overlap, double ns) {
  const struct subject subject = {NULL, only_computing, overlap};
  overlap->steps = 100000;
  double fastest = time_batch(&subject, 1);
  for (int i = 0; i < 10; ++i) {
    const double again = time_batch(&subject, 1);
    fastest = again < fastest ? again : fastest;
  }
  overlap->steps = (long)((double)overlap->steps * ns / fastest);
}

static double hidden_part(double transfer, double computation, double both) {
  const double hidden = (transfer + computation - both) / transfer;
  return hidden < 0 ? 0 : hidden > 1 ? 1 : hidden;
}

static bool overlapped_is_right(struct overlap* overlap) {
  struct bench* bench = overlap->bench;
  set_remote(bench, max_bytes, there_salt);
  fill(bench->memory.local, max_bytes, here_salt);
  overlapped(overlap, 1);
  return memcmp(bench->memory.local, bench->memory.scratch, max_bytes) == 0;
}

void measure_overlap(struct bench* bench, const char* name, const char* hidden_name) {
  struct overlap overlap = {bench, 0, 0};
  const struct subject transfer = {NULL, blocking, &overlap};
  const struct subject computation = {NULL, only_computing, &overlap};
  const struct subject both = {NULL, overlapped, &overlap};
  struct result whole = {name, max_bytes, "ns", "ok", "", {0, {0}}};
  struct result hidden = {hidden_name, max_bytes, "fraction", "ok", "", {0, {0}}};
  if (!overlapped_is_right(&overlap)) {
    whole.state = "wrong";
    whole.note = "the data differ from the target's";
    report(bench, &whole);
    return;
  }
  struct samples alone;
  take_samples(&bench->options.method, &transfer, &alone);
  calibrate(&overlap, median_of(&alone));
  const double end = now_ns() + bench->options.method.limit_ns;
  for (int i = 0; i < bench->options.method.samples && (i < min_samples || now_ns() < end); ++i) {
    const double transferring = time_batch(&transfer, 1);
    const double computing_alone = time_batch(&computation, 1);
    whole.samples.value[i] = time_batch(&both, 1);
    hidden.samples.value[i] = hidden_part(transferring, computing_alone, whole.samples.value[i]);
    hidden.samples.count = whole.samples.count = i + 1;
  }
  report(bench, &whole);
  report(bench, &hidden);
}
