// SPDX-License-Identifier: BSD-3-Clause
#define _GNU_SOURCE
#include "bench/armci/live.h"

#include <armci.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench/armci/target.h"

enum {
  word_bytes = sizeof(double),
  allocation_bytes = 4096,
  line_bytes = 64,
  synchronised = 100,  ///< allocations between two clock readings
  stride = 1597,       ///< a prime: the distance between consecutively visited addresses
  apart = 64 << 10     ///< distance of the baseline's addresses
};

/// For all allocations of one case.
static const double limit_ns = 20e9;

// The offset of a number in its allocation. If all lay at the start of a page, the processor's
// caches could hold only a few of them.
static long offset_in_page(long number) {
  return number % (allocation_bytes / line_bytes) * line_bytes;
}

static void add_allocation(struct live* live) {
  void* segments[2] = {NULL, NULL};
  if (ARMCI_Malloc(segments, allocation_bytes) != 0) {
    fail("ARMCI_Malloc failed");
  }
  const double number = (double)live->count;
  const long place = offset_in_page(live->count);
  memcpy((char*)segments[live->rank] + place, &number, word_bytes);
  live->own[live->count] = segments[live->rank];
  live->theirs[live->count] = (char*)segments[target_rank] + place;
  ++live->count;
}

static void free_all(struct live* live) {
  while (live->count > 0) {
    ARMCI_Free(live->own[--live->count]);
  }
  free(live->own);
  free(live->theirs);
  live->own = live->theirs = NULL;
}

void set_live_count(struct live* live, long count) {
  if (count == 0) {
    free_all(live);
    return;
  }
  live->own = realloc(live->own, (size_t)count * sizeof *live->own);
  live->theirs = realloc(live->theirs, (size_t)count * sizeof *live->theirs);
  if (live->own == NULL || live->theirs == NULL) {
    fail("out of memory");
  }
  while (live->count < count) {
    add_allocation(live);
  }
  ARMCI_Barrier();
}

/// Gets of a word from one address after the other. Each word holds the next address. So the result
/// is the time of one get, not the number that a processor can have outstanding.
struct pointer_chase {
  char** places;
  long first;  ///< the number in the first of them
  long count;
  double* word;
};

static long next_address(const struct pointer_chase* pointer_chase) {
  return ((long)*pointer_chase->word - pointer_chase->first + stride) % pointer_chase->count;
}

static void get_cyclically(void* context, long repetitions) {
  const struct pointer_chase* pointer_chase = context;
  long at = 0;
  for (long i = 0; i < repetitions; ++i) {
    ARMCI_Get(pointer_chase->places[at], pointer_chase->word, word_bytes, target_rank);
    at = next_address(pointer_chase);
  }
}

static void load_in_turn(void* context, long repetitions) {
  const struct pointer_chase* pointer_chase = context;
  long at = 0;
  for (long i = 0; i < repetitions; ++i) {
    memcpy(pointer_chase->word, pointer_chase->places[at], word_bytes);
    __asm__ volatile("" : : : "memory");
    at = next_address(pointer_chase);
  }
}

static bool all_are_right(const struct pointer_chase* pointer_chase) {
  for (long i = 0; i < pointer_chase->count; ++i) {
    ARMCI_Get(pointer_chase->places[i], pointer_chase->word, word_bytes, target_rank);
    if (*pointer_chase->word != (double)(pointer_chase->first + i)) {
      return false;
    }
  }
  return true;
}

static void measure_pointer_chase(struct bench* bench, const char* name,
                                  struct pointer_chase pointer_chase, const char* trouble) {
  if (name == NULL) {
    return;
  }
  const struct subject subject = {NULL, get_cyclically, &pointer_chase};
  struct result result = {name, word_bytes, "ns", "ok", "", {0, {0}}};
  if (trouble != NULL) {
    result.state = "skipped";
    result.note = trouble;
  } else if (!all_are_right(&pointer_chase)) {
    result.state = "wrong";
    result.note = "an allocation doesn't hold the number that its owner wrote";
  } else {
    take_samples(&bench->options.method, &subject, &result.samples);
  }
  report(bench, &result);
}

// Whether all allocations could be made in time; makes the target do the same.
static bool make_in_time(struct live* live, long count) {
  const double end = now_ns() + limit_ns;
  while (live->count < count && now_ns() < end) {
    const long next = live->count + synchronised < count ? live->count + synchronised : count;
    command_target(command_make_live, (int)next);
    set_live_count(live, next);
  }
  return live->count == count;
}

void measure_live(struct bench* bench, const char* one, const char* each, long count) {
  struct live live = {.rank = origin_rank};
  const char* trouble = NULL;
  if (bench->job.ranks != 2) {
    trouble = "needs exactly two ranks";
  } else if (!make_in_time(&live, count)) {
    trouble = "this number of allocations takes more than 20 s";
  }
  double* word = (double*)(void*)bench->memory.local;
  const struct pointer_chase all = {live.theirs, 0, count, word};
  struct pointer_chase middle = {NULL, count / 2, 1, word};
  if (trouble == NULL) {
    middle.places = live.theirs + middle.first;
  }
  measure_pointer_chase(bench, one, middle, trouble);
  measure_pointer_chase(bench, each, all, trouble);
  if (live.count > 0) {
    command_target(command_make_live, 0);
    set_live_count(&live, 0);
  }
}

void measure_live_baseline(struct bench* bench, const char* name, long count) {
  const size_t bytes = (size_t)count * apart;
  char* memory =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  char** places = malloc((size_t)count * sizeof *places);
  if (memory == MAP_FAILED || places == NULL) {
    fail("out of memory");
  }
  for (long i = 0; i < count; ++i) {
    const double number = (double)i;
    places[i] = memory + i * apart + offset_in_page(i);
    memcpy(places[i], &number, word_bytes);
  }
  struct pointer_chase pointer_chase = {places, 0, count, (double*)(void*)bench->memory.local};
  const struct subject subject = {NULL, load_in_turn, &pointer_chase};
  struct result result = {name, word_bytes, "ns", "ok", "", {0, {0}}};
  take_samples(&bench->options.method, &subject, &result.samples);
  report(bench, &result);
  free(places);
  munmap(memory, bytes);
}
