// SPDX-License-Identifier: BSD-3-Clause
#include "bench/armci/synchronisation.h"

#include <armci.h>
#include <string.h>

#include "bench/armci/target.h"
#include "bench/armci/transfers.h"

enum { put_salt = 5, other_salt = 6 };

static void add_int(void* context, long repetitions) {
  int before = 0;
  for (long i = 0; i < repetitions; ++i) {
    ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &before, context, 1, target_rank);
  }
}

static void add_long(void* context, long repetitions) {
  long before = 0;
  for (long i = 0; i < repetitions; ++i) {
    ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, context, 1, target_rank);
  }
}

static void swap_int(void* context, long repetitions) {
  int mine = 0;
  for (long i = 0; i < repetitions; ++i) {
    ARMCI_Rmw(ARMCI_SWAP, &mine, context, 0, target_rank);
  }
}

static void swap_long(void* context, long repetitions) {
  long mine = 0;
  for (long i = 0; i < repetitions; ++i) {
    ARMCI_Rmw(ARMCI_SWAP_LONG, &mine, context, 0, target_rank);
  }
}

static void (*const runs[atomics])(void*, long) = {add_int, add_long, swap_int, swap_long};

// Two operations on a known value, for either width: the first returns that value, the second the
// value that the first stored.
static bool int_is_right(void* word, enum atomic atomic) {
  int first = 40;
  int second = 50;
  ARMCI_Rmw(ARMCI_SWAP, &first, word, 0, target_rank);
  first = 7;
  ARMCI_Rmw(ARMCI_SWAP, &first, word, 0, target_rank);
  const int operation = atomic == atomic_add_int ? ARMCI_FETCH_AND_ADD : ARMCI_SWAP;
  ARMCI_Rmw(operation, &second, word, 3, target_rank);
  int last = 0;
  ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &last, word, 0, target_rank);
  return first == 40 && second == 7 && last == (atomic == atomic_add_int ? 10 : 50);
}

static bool long_is_right(void* word, enum atomic atomic) {
  const long wide = 1L << 40;
  long first = wide + 40;
  long second = wide + 50;
  ARMCI_Rmw(ARMCI_SWAP_LONG, &first, word, 0, target_rank);
  first = wide + 7;
  ARMCI_Rmw(ARMCI_SWAP_LONG, &first, word, 0, target_rank);
  const int operation = atomic == atomic_add_long ? ARMCI_FETCH_AND_ADD_LONG : ARMCI_SWAP_LONG;
  ARMCI_Rmw(operation, &second, word, 3, target_rank);
  long last = 0;
  ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &last, word, 0, target_rank);
  return first == wide + 40 && second == wide + 7 &&
         last == (atomic == atomic_add_long ? wide + 10 : wide + 50);
}

void measure_atomic(struct bench* bench, const char* name, enum atomic atomic) {
  const bool is_int = atomic == atomic_add_int || atomic == atomic_swap_int;
  const long bytes = is_int ? (long)sizeof(int) : (long)sizeof(long);
  // A word for each width, a cache line apart.
  char* word = bench->memory.words + (is_int ? 0 : 64);
  const struct subject subject = {NULL, runs[atomic], word};
  struct result result = {name, bytes, "ns", "ok", "", {0, {0}}};
  if (is_int ? int_is_right(word, atomic) : long_is_right(word, atomic)) {
    take_samples(&bench->options.method, &subject, &result.samples);
  } else {
    result.state = "wrong";
    result.note = "the values differ from those of two operations, one after the other";
  }
  report(bench, &result);
}

static void lock_unlock(void* context, long repetitions) {
  (void)context;
  for (long i = 0; i < repetitions; ++i) {
    ARMCI_Lock(0, target_rank);
    ARMCI_Unlock(0, target_rank);
  }
}

void measure_lock(struct bench* bench, const char* name) {
  const struct subject subject = {NULL, lock_unlock, NULL};
  struct result result = {name, 0, "ns", "ok", "", {0, {0}}};
  take_samples(&bench->options.method, &subject, &result.samples);
  report(bench, &result);
}

static void put_and_fence(void* context, long repetitions) {
  struct bench* bench = context;
  for (long i = 0; i < repetitions; ++i) {
    ARMCI_Put(bench->memory.local, bench->memory.remote, sizeof(double), target_rank);
    ARMCI_Fence(target_rank);
  }
}

void measure_put_fence(struct bench* bench, const char* name) {
  const struct subject subject = {NULL, put_and_fence, bench};
  struct result result = {name, sizeof(double), "ns", "ok", "", {0, {0}}};
  set_remote(bench, sizeof(double), other_salt);
  fill(bench->memory.local, sizeof(double), put_salt);
  put_and_fence(bench, 1);
  read_remote(bench, sizeof(double));
  if (memcmp(bench->memory.scratch, bench->memory.local, sizeof(double)) == 0) {
    take_samples(&bench->options.method, &subject, &result.samples);
  } else {
    result.state = "wrong";
    result.note = "the put's data have not arrived after the fence";
  }
  report(bench, &result);
}

static void announce_barriers(void* context, long repetitions) {
  (void)context;
  command_target(command_barriers, (int)repetitions + 1);
  ARMCI_Barrier();
}

static void barriers(void* context, long repetitions) {
  (void)context;
  for (long i = 0; i < repetitions; ++i) {
    ARMCI_Barrier();
  }
}

void measure_barrier(struct bench* bench, const char* name) {
  const struct subject subject = {announce_barriers, barriers, NULL};
  struct result result = {name, 0, "ns", "ok", "", {0, {0}}};
  if (bench->job.ranks == 2) {
    take_samples(&bench->options.method, &subject, &result.samples);
  } else {
    result.state = "skipped";
    result.note = "needs exactly two ranks";
  }
  report(bench, &result);
}
