/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Aggregate handles: operations that are kept and sent together have the effect of single
 * operations, whatever one handle mixes.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/armci/cases.h"
#include "tests/armci/check.h"
#include "tests/armci/memory.h"

enum { count = 1000 };
static const int word = sizeof(long);

static void make_aggregate(armci_hdl_t* handle) {
  ARMCI_INIT_HANDLE(handle);
  ARMCI_SET_AGGREGATE_HANDLE(handle);
}

/* A word in a process's memory that only this process uses. */
static char* own_word(void** at, int proc, int number) {
  return shared_at(at, proc, ((long)count * me() + number) * word);
}

static void** words_for_all(void) {
  return shared_allocate((armci_size_t)count * word * nproc());
}

static void a_thousand_puts_and_gets(void) {
  void** const at = words_for_all();
  long* const values = zeroed(count * sizeof(long));
  long* const seen = zeroed(count * sizeof(long));
  armci_hdl_t handle;
  make_aggregate(&handle);
  for (int step = 0; step < nproc(); ++step) {
    const int proc = neighbour(step);
    for (int number = 0; number < count; ++number) {
      values[number] = 1000000L * step + 1000L * number + me();
      CHECK_OK(ARMCI_NbPut(&values[number], own_word(at, proc, number), word, proc, &handle));
    }
    CHECK_OK(ARMCI_Wait(&handle)); /* and is an aggregate again */
    for (int number = 0; number < count; ++number) {
      CHECK_OK(ARMCI_NbGet(own_word(at, proc, count - 1 - number), &seen[count - 1 - number], word,
                           proc, &handle));
    }
    CHECK_OK(ARMCI_Wait(&handle));
    CHECK_BYTES(seen, values, count * sizeof(long));
  }
  free(values);
  free(seen);
  shared_free(at);
}

static void a_thousand_accumulates_to_the_same_elements(void) {
  void** const at = shared_allocate(10 * word);
  long one = 1;
  long values[10];
  armci_hdl_t handle;
  make_aggregate(&handle);
  for (long index = 0; index < 10; ++index) {
    values[index] = index + 1;
  }
  for (int proc = 0; proc < nproc(); ++proc) {
    for (int number = 0; number < count; ++number) {
      const int index = number % 10;
      CHECK_OK(ARMCI_NbAcc(ARMCI_ACC_LNG, &one, &values[index], shared_at(at, proc, index * word),
                           word, proc, &handle));
    }
  }
  CHECK_OK(ARMCI_Wait(&handle));
  ARMCI_Barrier();
  for (long index = 0; index < 10; ++index) {
    CHECK_EQUAL(((long*)at[me()])[index], (index + 1) * (count / 10) * nproc());
  }
  shared_free(at);
}

/* Kinds, factors and processes change from one operation to the next. */
static void kinds_and_processes_mixed_in_one(void) {
  void** const at = words_for_all();
  long one = 1;
  long three = 3;
  long first = 100;
  long second = 7;
  long* const seen = zeroed(sizeof(long) * (size_t)nproc());
  armci_hdl_t handle;
  make_aggregate(&handle);
  for (int round = 0; round < 50; ++round) {
    for (int proc = 0; proc < nproc(); ++proc) {
      char* const target = own_word(at, proc, round);
      CHECK_OK(ARMCI_NbPut(&first, target, word, proc, &handle));
      CHECK_OK(ARMCI_NbPut(&second, own_word(at, proc, 50 + round), word, proc, &handle));
    }
    CHECK_OK(ARMCI_Wait(&handle));
    for (int proc = 0; proc < nproc(); ++proc) {
      char* const target = own_word(at, proc, round);
      CHECK_OK(ARMCI_NbAcc(ARMCI_ACC_LNG, &one, &second, target, word, proc, &handle));
      CHECK_OK(ARMCI_NbAcc(ARMCI_ACC_LNG, &three, &second, target, word, proc, &handle));
      CHECK_OK(ARMCI_NbPut(&first, own_word(at, proc, 50 + round), word, proc, &handle));
      CHECK_OK(ARMCI_NbGet(own_word(at, proc, 200), &seen[proc], word, proc, &handle));
    }
    CHECK_OK(ARMCI_Wait(&handle));
    for (int proc = 0; proc < nproc(); ++proc) {
      CHECK_EQUAL(ARMCI_GetValueLong(own_word(at, proc, round), proc), 100 + 7 + 3 * 7);
      CHECK_EQUAL(ARMCI_GetValueLong(own_word(at, proc, 50 + round), proc), 100);
      CHECK_EQUAL(seen[proc], 0);
    }
  }
  free(seen);
  shared_free(at);
}

static void unset_starts_what_was_kept(void) {
  void** const at = words_for_all();
  const int proc = neighbour(1);
  long values[20];
  armci_hdl_t handle;
  make_aggregate(&handle);
  for (int number = 0; number < 20; ++number) {
    values[number] = 10 * me() + number + 1;
    CHECK_OK(ARMCI_NbPut(&values[number], own_word(at, proc, number), word, proc, &handle));
    if (number == 9) {
      ARMCI_UNSET_AGGREGATE_HANDLE(&handle);
    }
  }
  CHECK_OK(ARMCI_Wait(&handle));
  for (int number = 0; number < 20; ++number) {
    CHECK_EQUAL(ARMCI_GetValueLong(own_word(at, proc, number), proc), values[number]);
  }
  ARMCI_SET_AGGREGATE_HANDLE(&handle);
  CHECK_OK(ARMCI_Wait(&handle));
  ARMCI_UNSET_AGGREGATE_HANDLE(&handle);
  CHECK_OK(ARMCI_Wait(&handle));
  shared_free(at);
}

/* Aggregation is set while operations are under way, and in handles with any previous content. */
static void set_at_any_time(void) {
  void** const at = words_for_all();
  const int proc = neighbour(1);
  long values[20];
  armci_hdl_t handle;
  memset(&handle, 0xff, sizeof handle);
  for (int number = 0; number < 20; ++number) {
    values[number] = number + 1;
    if (number == 10) {
      ARMCI_SET_AGGREGATE_HANDLE(&handle);
    }
    CHECK_OK(ARMCI_NbPut(&values[number], own_word(at, proc, number), word, proc, &handle));
  }
  CHECK_OK(ARMCI_Wait(&handle));
  memset(&handle, 0xff, sizeof handle);
  ARMCI_UNSET_AGGREGATE_HANDLE(&handle);
  CHECK_OK(ARMCI_Wait(&handle));
  for (int number = 0; number < 20; ++number) {
    CHECK_EQUAL(ARMCI_GetValueLong(own_word(at, proc, number), proc), values[number]);
  }
  shared_free(at);
}

static void test_moves_on_what_was_kept(void) {
  void** const at = words_for_all();
  const int proc = neighbour(1);
  long values[100];
  armci_hdl_t handle;
  make_aggregate(&handle);
  for (int number = 0; number < 100; ++number) {
    values[number] = number + me();
    CHECK_OK(ARMCI_NbPut(&values[number], own_word(at, proc, number), word, proc, &handle));
  }
  while (ARMCI_Test(&handle) != 0) {
  }
  CHECK_OK(ARMCI_Wait(&handle));
  for (int number = 0; number < 100; ++number) {
    CHECK_EQUAL(ARMCI_GetValueLong(own_word(at, proc, number), proc), number + me());
  }
  shared_free(at);
}

static void several_aggregates_at_once(void) {
  enum { handles = 10 };
  void** const at = words_for_all();
  long values[handles * 10];
  armci_hdl_t handle[handles];
  for (int one = 0; one < handles; ++one) {
    make_aggregate(&handle[one]);
  }
  for (int number = 0; number < handles * 10; ++number) {
    const int proc = neighbour(number);
    values[number] = 1 + number;
    CHECK_OK(ARMCI_NbPut(&values[number], own_word(at, proc, number), word, proc,
                         &handle[number % handles]));
  }
  for (int one = handles - 1; one >= 0; --one) {
    CHECK_OK(ARMCI_Wait(&handle[one]));
  }
  for (int number = 0; number < handles * 10; ++number) {
    const int proc = neighbour(number);
    CHECK_EQUAL(ARMCI_GetValueLong(own_word(at, proc, number), proc), values[number]);
  }
  shared_free(at);
}

/* Vectors of `each` segments, one after another. Segment `number` of vector `vector` is local
 * word each * vector + number, and a word of this process in the target's memory, in another
 * order. */
enum { each = 25, vectors = 40 };

typedef struct {
  void* local[each];
  void* remote[each];
  armci_giov_t set;
} Vector;

static armci_giov_t* make_vector(Vector* one, void** at, int proc, int vector, long* words,
                                 int is_put) {
  for (int number = 0; number < each; ++number) {
    one->local[number] = &words[each * vector + number];
    one->remote[number] = own_word(at, proc, 7 * (each * vector + number) % count);
  }
  one->set.src_ptr_array = is_put ? one->local : one->remote;
  one->set.dst_ptr_array = is_put ? one->remote : one->local;
  one->set.bytes = word;
  one->set.ptr_array_len = each;
  return &one->set;
}

static void vectors_of_all_kinds(void) {
  void** const at = words_for_all();
  long* const values = zeroed(count * sizeof(long));
  long* const seen = zeroed(count * sizeof(long));
  long two = 2;
  Vector one; /* reused: its arrays may change when the call returns */
  armci_hdl_t handle;
  make_aggregate(&handle);
  for (int step = 0; step < nproc(); ++step) {
    const int proc = neighbour(step);
    for (int number = 0; number < count; ++number) {
      values[number] = 1000000L * step + 1000L * number + me();
      seen[number] = 0;
    }
    for (int vector = 0; vector < vectors; ++vector) {
      CHECK_OK(ARMCI_NbPutV(make_vector(&one, at, proc, vector, values, 1), 1, proc, &handle));
    }
    CHECK_OK(ARMCI_Wait(&handle));
    for (int vector = 0; vector < vectors; ++vector) {
      CHECK_OK(ARMCI_NbAccV(ARMCI_ACC_LNG, &two, make_vector(&one, at, proc, vector, values, 1), 1,
                            proc, &handle));
    }
    CHECK_OK(ARMCI_Wait(&handle));
    for (int vector = 0; vector < vectors; ++vector) {
      CHECK_OK(ARMCI_NbGetV(make_vector(&one, at, proc, vector, seen, 0), 1, proc, &handle));
    }
    CHECK_OK(ARMCI_Wait(&handle));
    for (int number = 0; number < count; ++number) {
      values[number] *= 3;
    }
    CHECK_BYTES(seen, values, count * sizeof(long));
  }
  free(values);
  free(seen);
  shared_free(at);
}

/* If bytes are put twice the last put wins, within one vector and among several that are sent
 * together. */
static void puts_that_overlap_stay_in_order(void) {
  enum { slots = 10, length = 12 };
  void** const at = shared_allocate((armci_size_t)(slots + length) * nproc());
  unsigned char source[30][3][length];
  unsigned char model[slots + length] = {0};
  unsigned char back[slots + length];
  const int proc = neighbour(1);
  char* const mine = shared_at(at, proc, (long)(slots + length) * me());
  armci_hdl_t handle;
  make_aggregate(&handle);
  for (int vector = 0; vector < 30; ++vector) {
    void* from[3];
    void* to[3];
    armci_giov_t set;
    for (int number = 0; number < 3; ++number) {
      const int offset = (3 * vector + 7 * number) % slots;
      memset(source[vector][number], 1 + 3 * vector + number, length);
      memcpy(model + offset, source[vector][number], length);
      from[number] = source[vector][number];
      to[number] = mine + offset;
    }
    set.src_ptr_array = from;
    set.dst_ptr_array = to;
    set.bytes = length;
    set.ptr_array_len = 3;
    CHECK_OK(ARMCI_NbPutV(&set, 1, proc, &handle));
  }
  CHECK_OK(ARMCI_NbPut(source[0][0], mine + 2, length, proc, &handle));
  memcpy(model + 2, source[0][0], length);
  CHECK_OK(ARMCI_Wait(&handle));
  CHECK_OK(ARMCI_Get(mine, back, sizeof back, proc));
  CHECK_BYTES(back, model, sizeof back);
  ARMCI_Barrier();
  shared_free(at);
}

/* An operation of 0 bytes does nothing, at any address. */
static void nothing_is_kept_of_no_bytes(void) {
  long one = 1;
  int strides[] = {word};
  int counts[] = {word, 0};
  armci_hdl_t handle;
  make_aggregate(&handle);
  for (int proc = 0; proc < nproc(); ++proc) {
    CHECK_OK(ARMCI_NbPut(NULL, NULL, 0, proc, &handle));
    CHECK_OK(ARMCI_NbGet(NULL, NULL, 0, proc, &handle));
    CHECK_OK(ARMCI_NbAcc(ARMCI_ACC_LNG, &one, NULL, NULL, 0, proc, &handle));
    CHECK_OK(ARMCI_NbPutS(NULL, strides, NULL, strides, counts, 1, proc, &handle));
    CHECK_OK(ARMCI_NbGetS(NULL, strides, NULL, strides, counts, 1, proc, &handle));
    armci_giov_t set;
    set.src_ptr_array = NULL;
    set.dst_ptr_array = NULL;
    set.bytes = word;
    set.ptr_array_len = 0;
    CHECK_OK(ARMCI_NbPutV(&set, 1, proc, &handle));
    CHECK_OK(ARMCI_NbGetV(NULL, 0, proc, &handle));
  }
  CHECK_OK(ARMCI_Wait(&handle));
}

const Case aggregate_cases[] = {
    {"a_thousand_puts_and_gets", a_thousand_puts_and_gets},
    {"a_thousand_accumulates_to_the_same_elements", a_thousand_accumulates_to_the_same_elements},
    {"kinds_and_processes_mixed_in_one", kinds_and_processes_mixed_in_one},
    {"unset_starts_what_was_kept", unset_starts_what_was_kept},
    {"set_at_any_time", set_at_any_time},
    {"test_moves_on_what_was_kept", test_moves_on_what_was_kept},
    {"several_aggregates_at_once", several_aggregates_at_once},
    {"vectors_of_all_kinds", vectors_of_all_kinds},
    {"puts_that_overlap_stay_in_order", puts_that_overlap_stay_in_order},
    {"nothing_is_kept_of_no_bytes", nothing_is_kept_of_no_bytes},
    {NULL, NULL}};
