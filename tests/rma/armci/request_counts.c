/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How many requests operations to another node take, and which process serves them: process 0 is
 * the origin, of two processes on a node each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rma/armci/armcix.h"
#include "rma/armci/message.h"
#include "tests/armci/check.h"
#include "tests/armci/memory.h"
#include "tests/rma/armci/request_count.h"

enum { sets = 20, segments = 25, words = sets * segments };
static const int word = sizeof(long);

/* Sets of segments: those of set i have one word, or two. They are contiguous on the local side,
 * and have gaps on the remote side. */
typedef struct {
  long values[2 * words];
  void* local[sets][segments];
  void* remote[sets][segments];
  armci_giov_t set[sets];
} Vectors;

static Vectors* make_vectors(char* start, int is_put) {
  Vectors* const made = zeroed(sizeof *made);
  for (int set = 0; set < sets; ++set) {
    const int length = 1 + set % 2;
    for (int number = 0; number < segments; ++number) {
      const int index = set * segments + number;
      made->values[2 * index] = 100 * index + 1;
      made->values[2 * index + 1] = 100 * index + 2;
      made->local[set][number] = &made->values[2 * index];
      made->remote[set][number] = start + 3L * word * index;
    }
    made->set[set].src_ptr_array = is_put ? made->local[set] : made->remote[set];
    made->set[set].dst_ptr_array = is_put ? made->remote[set] : made->local[set];
    made->set[set].bytes = length * word;
    made->set[set].ptr_array_len = segments;
  }
  return made;
}

/* Checks that the words of all sets are `times` those of make_vectors(). */
static void check_words(char* start, int proc, long times) {
  long* const seen = zeroed((size_t)(3 * words * word));
  CHECK_OK(ARMCI_Get(start, seen, 3 * words * word, proc));
  int wrong = 0;
  for (int index = 0; index < words; ++index) {
    const int length = 1 + index / segments % 2;
    wrong += seen[3 * index] != times * (100 * index + 1);
    wrong += seen[3 * index + 1] != (length == 2 ? times * (100 * index + 2) : 0);
    wrong += seen[3 * index + 2] != 0;
  }
  CHECK_EQUAL(wrong, 0);
  free(seen);
}

static void** words_of_all(void) {
  void** const at = shared_allocate((armci_size_t)(3 * words * word));
  long value = 0;
  CHECK_OK(ARMCI_Get(at[neighbour(1)], &value, word, neighbour(1))); /* connects */
  ARMCI_AllFence();
  forget_requests();
  return at;
}

/* Each call has one vector: one request for each without an aggregate handle, and a single
 * request with it. */
static void aggregates_of_vectors_are_one_request(void) {
  void** const at = words_of_all();
  if (me() == 0) {
    Vectors* const puts = make_vectors(at[1], 1);
    Vectors* const gets = make_vectors(at[1], 0);
    long two = 2;
    armci_hdl_t handle;
    ARMCI_INIT_HANDLE(&handle);
    ARMCI_SET_AGGREGATE_HANDLE(&handle);
    for (int set = 0; set < sets; ++set) {
      CHECK_OK(ARMCI_NbPutV(&puts->set[set], 1, 1, &handle));
    }
    CHECK_EQUAL(requests_sent().puts, 0);
    CHECK_OK(ARMCI_Wait(&handle));
    ARMCI_Fence(1); /* a locally complete operation may not have been sent */
    CHECK_EQUAL(requests_sent().puts, 1);
    for (int set = 0; set < sets; ++set) {
      CHECK_OK(ARMCI_NbAccV(ARMCI_ACC_LNG, &two, &puts->set[set], 1, 1, &handle));
    }
    CHECK_OK(ARMCI_Wait(&handle));
    ARMCI_Fence(1);
    CHECK_EQUAL(requests_sent().accumulates, 1);
    memset(gets->values, 0, sizeof gets->values);
    for (int set = 0; set < sets; ++set) {
      CHECK_OK(ARMCI_NbGetV(&gets->set[set], 1, 1, &handle));
    }
    CHECK_OK(ARMCI_Wait(&handle));
    CHECK_EQUAL(requests_sent().gets, 1);
    for (int index = 0; index < words; ++index) {
      CHECK_EQUAL(gets->values[2 * index], 3 * (100L * index + 1));
    }
    check_words(at[1], 1, 3);

    ARMCI_UNSET_AGGREGATE_HANDLE(&handle);
    forget_requests();
    for (int set = 0; set < sets; ++set) {
      CHECK_OK(ARMCI_NbGetV(&gets->set[set], 1, 1, &handle));
    }
    CHECK_OK(ARMCI_Wait(&handle));
    CHECK_EQUAL(requests_sent().gets, sets);
    free(puts);
    free(gets);
  }
  shared_free(at);
}

static void arrays_of_descriptors_are_one_request(void) {
  void** const at = words_of_all();
  if (me() == 0) {
    Vectors* const puts = make_vectors(at[1], 1);
    Vectors* const gets = make_vectors(at[1], 0);
    long one = 1;
    CHECK_OK(ARMCI_PutV(puts->set, sets, 1));
    ARMCI_Fence(1);
    CHECK_EQUAL(requests_sent().puts, 1);
    CHECK_OK(ARMCI_AccV(ARMCI_ACC_LNG, &one, puts->set, sets, 1));
    ARMCI_Fence(1);
    CHECK_EQUAL(requests_sent().accumulates, 1);
    CHECK_OK(ARMCIX_GetV_dscr(gets->set, sets, 1));
    CHECK_EQUAL(requests_sent().gets, 1);
    check_words(at[1], 1, 2);
    free(puts);
    free(gets);
  }
  shared_free(at);
}

/* The functions of the first draft: rows of two words, 20 sets of 25. */
static void arrays_of_strided_descriptors_are_one_request(void) {
  void** const at = words_of_all();
  if (me() == 0) {
    armci_strided_t set[sets];
    long* const values = zeroed((size_t)(2 * words * word));
    long* const seen = zeroed((size_t)(3 * words * word));
    armci_hdl_t handle;
    ARMCI_INIT_HANDLE(&handle);
    for (int number = 0; number < sets; ++number) {
      set[number].src_ptr = &values[2 * segments * number];
      set[number].dst_ptr = shared_at(at, 1, 3L * word * segments * number);
      set[number].src_stride = 2 * word;
      set[number].dst_stride = 3 * word;
      set[number].bytes = 2 * word;
      set[number].count = segments;
    }
    for (int index = 0; index < 2 * words; ++index) {
      values[index] = 7 * index + 1;
    }
    CHECK_OK(ARMCIX_PutS_dscr(set, sets, 1));
    ARMCI_Fence(1);
    CHECK_EQUAL(requests_sent().puts, 1);
    CHECK_OK(ARMCI_Get(at[1], seen, 3 * words * word, 1));
    for (int index = 0; index < words; ++index) {
      CHECK_BYTES(&seen[3 * index], &values[2 * index], 2 * word);
      CHECK_EQUAL(seen[3 * index + 2], 0);
    }
    for (int number = 0; number < sets; ++number) {
      void* const here = set[number].src_ptr;
      set[number].src_ptr = set[number].dst_ptr;
      set[number].dst_ptr = here;
      set[number].src_stride = 3 * word;
      set[number].dst_stride = 2 * word;
    }
    memset(values, 0, (size_t)(2 * words * word));
    forget_requests();
    CHECK_OK(ARMCIX_NbGetS_dscr(set, sets, 1, &handle));
    CHECK_OK(ARMCI_Wait(&handle));
    CHECK_EQUAL(requests_sent().gets, 1);
    for (int index = 0; index < words; ++index) {
      CHECK_BYTES(&seen[3 * index], &values[2 * index], 2 * word);
    }
    free(values);
    free(seen);
  }
  shared_free(at);
}

/* A request names one allocation: there is one for each. */
static void vectors_in_two_allocations_are_two_requests(void) {
  void** const one = words_of_all();
  void** const other = words_of_all();
  if (me() == 0) {
    Vectors* const puts = make_vectors(one[1], 1);
    Vectors* const more = make_vectors(other[1], 1);
    armci_giov_t both[2 * sets];
    for (int set = 0; set < sets; ++set) {
      both[2 * set] = puts->set[set];
      both[2 * set + 1] = more->set[set];
    }
    CHECK_OK(ARMCI_PutV(both, 2 * sets, 1));
    ARMCI_Fence(1);
    CHECK_EQUAL(requests_sent().puts, 2);
    check_words(one[1], 1, 1);
    check_words(other[1], 1, 1);
    free(puts);
    free(more);
  }
  shared_free(other);
  shared_free(one);
}

/* Process 1 only polls, and so serves what process 0 requests from its node. */
static void polling_serves_other_nodes(void) {
  enum { tag = 5 };
  int is_over = 0;
  void** const at = words_of_all();
  char* const over = shared_at(at, 1, 8);
  ARMCI_Barrier();
  forget_requests();
  if (me() == 0) {
    for (int round = 0; round < 3000; ++round) {
      CHECK_EQUAL(ARMCI_GetValueLong(at[1], 1), 0);
    }
    long one = 1;
    CHECK_OK(ARMCI_Put(&one, over, word, 1));
    ARMCI_Fence(1);
  } else {
    for (long polls = 0; !is_over; ++polls) {
      if (polls % 2 == 0) {
        ARMCI_Poll();
      } else {
        ARMCIX_Progress();
      }
      is_over = *(volatile long*)(void*)over != 0;
    }
    CHECK(answers_by_this_thread() > 0);
  }
  shared_free(at);
}

/* A get is under way: a process that polls reads its data. */
static void polling_moves_on_what_is_under_way(void) {
  enum { bytes = 4 << 20 };
  void** const at = shared_allocate(bytes);
  memset(at[me()], 1 + me(), bytes);
  ARMCI_Barrier();
  if (me() == 0) {
    char* const seen = zeroed(bytes);
    char* const expected = zeroed(bytes);
    memset(expected, 2, bytes);
    int reads = 0;
    for (int round = 0; round < 10; ++round) {
      armci_hdl_t handle;
      ARMCI_INIT_HANDLE(&handle);
      memset(seen, 0, bytes);
      forget_requests();
      CHECK_OK(ARMCI_NbGet(at[1], seen, bytes, 1, &handle));
      for (int polls = 0; polls < 1000; ++polls) {
        ARMCI_Poll();
      }
      reads += reads_by_this_thread();
      CHECK_OK(ARMCI_Wait(&handle));
      CHECK_BYTES(seen, expected, bytes);
    }
    CHECK(reads > 0);
    free(seen);
    free(expected);
  }
  shared_free(at);
}

static const Case cases[] = {
    {"aggregates_of_vectors_are_one_request", aggregates_of_vectors_are_one_request},
    {"arrays_of_descriptors_are_one_request", arrays_of_descriptors_are_one_request},
    {"arrays_of_strided_descriptors_are_one_request",
     arrays_of_strided_descriptors_are_one_request},
    {"vectors_in_two_allocations_are_two_requests", vectors_in_two_allocations_are_two_requests},
    {"polling_serves_other_nodes", polling_serves_other_nodes},
    {"polling_moves_on_what_is_under_way", polling_moves_on_what_is_under_way},
    {NULL, NULL}};
static const Suite suites[] = {{"requests", cases}, {NULL, NULL}};

int main(int argc, char** argv) {
  setenv("TESSERA_ARMCI_ERRORS", "return", 1);
  armci_msg_init(&argc, &argv);
  if (ARMCI_Init() != 0) {
    fprintf(stderr, "test_armci_requests: %s\n", ARMCIX_Error_message());
    return 1;
  }
  const int failed = run_suites(suites, argc > 1 ? argv[1] : "*", 60);
  const int ended = ARMCI_Finalize();
  armci_msg_finalize();
  return failed != 0 || ended != 0;
}
