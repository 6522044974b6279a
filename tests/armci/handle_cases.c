/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Non-blocking transfers by explicit and null handles, as programs use them: one handle for many
 * operations, handles that are not initialised, reused, copied, tested.
 */
#include <stdlib.h>

#include "rma/armci/armcix.h"
#include "rma/armci/message.h"
#include "tests/armci/cases.h"
#include "tests/armci/check.h"
#include "tests/armci/memory.h"

enum { bytes = 3000 };

typedef enum { explicit_handle, null_and_wait, null_and_wait_all, null_and_wait_proc } Claim;

static int wait_as(Claim claim, armci_hdl_t* handle, int proc) {
  return claim == explicit_handle     ? ARMCI_Wait(handle)
         : claim == null_and_wait     ? ARMCI_Wait(NULL)
         : claim == null_and_wait_all ? ARMCI_WaitAll()
                                      : ARMCI_WaitProc(proc);
}

/* Puts and gets back, with each process in turn. */
static void put_and_get_back(Claim claim) {
  void** const at = shared_allocate((armci_size_t)bytes * nproc());
  char source[bytes];
  char back[bytes];
  armci_hdl_t handle;
  for (int step = 0; step < nproc(); ++step) {
    const int proc = neighbour(step);
    armci_hdl_t* const used = claim == explicit_handle ? &handle : NULL;
    char* const there = shared_at(at, proc, (long)bytes * me());
    fill_pattern(source, bytes, me() + step);
    memset(back, 0, bytes);
    ARMCI_INIT_HANDLE(&handle);
    CHECK_OK(ARMCI_NbPut(source, there, bytes, proc, used));
    CHECK_OK(wait_as(claim, &handle, proc));
    CHECK_OK(ARMCI_NbGet(there, back, bytes, proc, used));
    CHECK_OK(wait_as(claim, &handle, proc));
    CHECK_BYTES(back, source, bytes);
  }
  shared_free(at);
}

static void explicit_handles(void) {
  put_and_get_back(explicit_handle);
}
static void implicit_handles_and_wait(void) {
  put_and_get_back(null_and_wait);
}
static void implicit_handles_and_wait_all(void) {
  put_and_get_back(null_and_wait_all);
}
static void implicit_handles_and_wait_proc(void) {
  put_and_get_back(null_and_wait_proc);
}

/* Puts `rounds` words each to all processes with one handle that holds `content` before. */
static void many_with_one_handle(int content) {
  enum { rounds = 300 };
  void** const at = shared_allocate((armci_size_t)sizeof(int) * rounds * nproc());
  int* const values = zeroed(sizeof(int) * rounds);
  int* const seen = zeroed(sizeof(int) * rounds * (size_t)nproc());
  armci_hdl_t handle;
  memset(&handle, content, sizeof handle);
  for (int use = 0; use < 3; ++use) {
    for (int round = 0; round < rounds; ++round) {
      values[round] = 1000000 * use + 1000 * me() + round;
      for (int proc = 0; proc < nproc(); ++proc) {
        const long offset = ((long)rounds * me() + round) * (long)sizeof(int);
        CHECK_OK(
            ARMCI_NbPut(&values[round], shared_at(at, proc, offset), sizeof(int), proc, &handle));
      }
    }
    CHECK_OK(ARMCI_Wait(&handle));
    for (int proc = 0; proc < nproc(); ++proc) {
      CHECK_OK(ARMCI_NbGet(shared_at(at, proc, (long)rounds * me() * (long)sizeof(int)),
                           seen + (long)rounds * proc, rounds * (int)sizeof(int), proc, &handle));
    }
    CHECK_OK(ARMCI_Wait(&handle));
    CHECK_OK(ARMCI_Wait(&handle)); /* it is empty now */
    for (int proc = 0; proc < nproc(); ++proc) {
      CHECK_BYTES(seen + (long)rounds * proc, values, rounds * sizeof(int));
    }
  }
  free(values);
  free(seen);
  shared_free(at);
}

static void one_handle_for_many_operations(void) {
  many_with_one_handle(0);
}
static void handle_never_initialised(void) {
  many_with_one_handle(0xff);
  many_with_one_handle(0x01);
  many_with_one_handle(0xa5);
}

static void handle_of_nothing_is_complete(void) {
  armci_hdl_t handle;
  for (int content = 0; content < 256; content += 51) {
    memset(&handle, content, sizeof handle);
    CHECK_EQUAL(ARMCI_Test(&handle), 0);
    CHECK_OK(ARMCI_Wait(&handle));
  }
  CHECK_OK(ARMCI_WaitAll());
  for (int proc = 0; proc < nproc(); ++proc) {
    CHECK_OK(ARMCI_WaitProc(proc));
  }
}

static void test_reports_when_wait_would_not_block(void) {
  enum { large = 400000 };
  void** const at = shared_allocate((armci_size_t)large * nproc());
  char* const source = zeroed(large);
  char* const back = zeroed(large);
  armci_hdl_t handle;
  fill_pattern(source, large, me());
  for (int proc = 0; proc < nproc(); ++proc) {
    char* const there = shared_at(at, proc, (long)large * me());
    ARMCI_INIT_HANDLE(&handle);
    CHECK_OK(ARMCI_NbPut(source, there, large, proc, &handle));
    int state = 1;
    while ((state = ARMCI_Test(&handle)) == 1) {
      ARMCI_Poll();
      ARMCIX_Progress();
    }
    CHECK_EQUAL(state, 0);
    CHECK_OK(ARMCI_Wait(&handle));
    memset(back, 0, large);
    CHECK_OK(ARMCI_NbGet(there, back, large, proc, &handle));
    while (ARMCI_Test(&handle) != 0) {
    }
    CHECK_BYTES(back, source, large);
    CHECK_OK(ARMCI_Wait(&handle));
  }
  free(source);
  free(back);
  shared_free(at);
}

/* Completion in another order than the start, and copies of handles. */
static void handles_may_be_copied(void) {
  enum { count = 50 };
  void** const at = shared_allocate((armci_size_t)count * bytes * nproc());
  char* const source = zeroed(count * bytes);
  char* const back = zeroed(count * bytes);
  armci_hdl_t handles[count];
  armci_hdl_t copies[count];
  fill_pattern(source, count * bytes, me());
  memset(handles, 0x77, sizeof handles);
  for (int number = 0; number < count; ++number) {
    const int proc = neighbour(number);
    char* const there = shared_at(at, proc, (long)bytes * (me() * count + number));
    CHECK_OK(ARMCI_NbPut(source + (long)bytes * number, there, bytes, proc, &handles[number]));
  }
  memcpy(copies, handles, sizeof copies);
  for (int number = count - 1; number >= 0; --number) {
    CHECK_OK(ARMCI_Wait(&copies[number]));
  }
  for (int number = 0; number < count; ++number) {
    const int proc = neighbour(number);
    char* const there = shared_at(at, proc, (long)bytes * (me() * count + number));
    CHECK_OK(ARMCI_NbGet(there, back + (long)bytes * number, bytes, proc, &handles[number]));
  }
  for (int number = 0; number < count; ++number) {
    CHECK_OK(ARMCI_Wait(&handles[(number * 7 + 3) % count]));
  }
  CHECK_BYTES(back, source, count * bytes);
  free(source);
  free(back);
  shared_free(at);
}

/* More than the limit: the oldest ones are completed. */
static void more_than_may_be_outstanding(void) {
  enum { count = 3 * ARMCI_MAX_NUM_REQUESTS };
  void** const at = shared_allocate((armci_size_t)count * (armci_size_t)sizeof(long) * nproc());
  long* const values = zeroed(count * sizeof(long));
  for (long number = 0; number < count; ++number) {
    const int proc = neighbour((int)number);
    const long offset = ((long)count * me() + number) * (long)sizeof(long);
    values[number] = 100000L * (me() + 1) + number;
    CHECK_OK(ARMCI_NbPut(&values[number], shared_at(at, proc, offset), sizeof(long), proc, NULL));
  }
  CHECK_OK(ARMCI_WaitAll());
  ARMCI_Barrier();
  int wrong = 0;
  for (int from = 0; from < nproc(); ++from) {
    const long* const part = (const long*)at[me()] + (long)count * from;
    for (long number = 0; number < count; ++number) {
      const int is_mine = (from + number) % nproc() == me();
      wrong += part[number] != (is_mine ? 100000L * (from + 1) + number : 0);
    }
  }
  CHECK_EQUAL(wrong, 0);
  free(values);
  shared_free(at);
}

/* A blocking call comes after this process's earlier operations on the same process. */
static void wait_completes_what_the_blocking_call_does(void) {
  void** const at = shared_allocate((armci_size_t)sizeof(long) * nproc());
  const int proc = neighbour(1);
  long* const there = (long*)(void*)shared_at(at, proc, me() * (long)sizeof(long));
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  for (long round = 1; round <= 100; ++round) {
    long value = round;
    CHECK_OK(ARMCI_NbPut(&value, there, sizeof value, proc, &handle));
    CHECK_OK(ARMCI_Wait(&handle));
    value = -1;
    CHECK_EQUAL(ARMCI_GetValueLong(there, proc), round);
  }
  shared_free(at);
}

static void handles_of_all_kinds_of_operations(void) {
  enum { count = 64 };
  void** const at = shared_allocate((armci_size_t)count * (armci_size_t)sizeof(double) * nproc());
  const int proc = neighbour(1);
  char* const there = shared_at(at, proc, (long)count * me() * (long)sizeof(double));
  double source[count];
  double seen[count] = {0};
  double one = 1;
  int strides[] = {2 * sizeof(double)};
  int counts[] = {sizeof(double), count / 2};
  void* from[] = {source};
  void* to[] = {there};
  armci_giov_t set;
  armci_hdl_t handle;
  memset(&handle, 0xcc, sizeof handle);
  for (int index = 0; index < count; ++index) {
    source[index] = index;
  }
  set.src_ptr_array = from;
  set.dst_ptr_array = to;
  set.bytes = sizeof source;
  set.ptr_array_len = 1;
  CHECK_OK(ARMCI_NbAcc(ARMCI_ACC_DBL, &one, source, there, sizeof source, proc, &handle));
  CHECK_OK(ARMCI_NbAccV(ARMCI_ACC_DBL, &one, &set, 1, proc, &handle));
  CHECK_OK(
      ARMCI_NbAccS(ARMCI_ACC_DBL, &one, source, strides, there, strides, counts, 1, proc, &handle));
  CHECK_OK(ARMCI_NbAccS(ARMCI_ACC_DBL, &one, source + 1, strides, there + sizeof(double), strides,
                        counts, 1, proc, &handle));
  CHECK_OK(ARMCI_Wait(&handle));
  ARMCI_Fence(proc);
  from[0] = there;
  to[0] = seen;
  CHECK_OK(ARMCI_NbGetV(&set, 1, proc, &handle));
  CHECK_OK(ARMCI_Wait(&handle));
  for (int index = 0; index < count; ++index) {
    CHECK_REAL(seen[index], 3 * index);
  }
  shared_free(at);
}

const Case handle_cases[] = {
    {"explicit_handles", explicit_handles},
    {"implicit_handles_and_wait", implicit_handles_and_wait},
    {"implicit_handles_and_wait_all", implicit_handles_and_wait_all},
    {"implicit_handles_and_wait_proc", implicit_handles_and_wait_proc},
    {"one_handle_for_many_operations", one_handle_for_many_operations},
    {"handle_never_initialised", handle_never_initialised},
    {"handle_of_nothing_is_complete", handle_of_nothing_is_complete},
    {"test_reports_when_wait_would_not_block", test_reports_when_wait_would_not_block},
    {"handles_may_be_copied", handles_may_be_copied},
    {"more_than_may_be_outstanding", more_than_may_be_outstanding},
    {"wait_completes_what_the_blocking_call_does", wait_completes_what_the_blocking_call_does},
    {"handles_of_all_kinds_of_operations", handles_of_all_kinds_of_operations},
    {NULL, NULL}};
