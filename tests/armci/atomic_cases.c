/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Values, and read-modify-write with all processes at one word.
 */
#include <stdlib.h>

#include "rma/armci/message.h"
#include "tests/armci/cases.h"
#include "tests/armci/check.h"
#include "tests/armci/memory.h"

typedef struct {
  long of_long;
  double of_double;
  int of_int;
  float of_float;
} Values;

static void values_of_all_types(void) {
  void** const at = shared_allocate((armci_size_t)sizeof(Values) * nproc());
  for (int proc = 0; proc < nproc(); ++proc) {
    Values* const there = (Values*)at[proc] + me();
    CHECK_OK(ARMCI_PutValueInt(-5 - proc, &there->of_int, proc));
    CHECK_OK(ARMCI_PutValueLong(1L << (40 + proc), &there->of_long, proc));
    CHECK_OK(ARMCI_PutValueFloat(0.5F + (float)proc, &there->of_float, proc));
    CHECK_OK(ARMCI_PutValueDouble(-1e300 - proc, &there->of_double, proc));
    CHECK_EQUAL(ARMCI_GetValueInt(&there->of_int, proc), -5 - proc);
    CHECK_EQUAL(ARMCI_GetValueLong(&there->of_long, proc), 1L << (40 + proc));
    CHECK_REAL(ARMCI_GetValueFloat(&there->of_float, proc), 0.5F + (float)proc);
    CHECK_REAL(ARMCI_GetValueDouble(&there->of_double, proc), -1e300 - proc);
  }
  ARMCI_Barrier();
  for (int from = 0; from < nproc(); ++from) {
    const Values* const here = (const Values*)at[me()] + from;
    CHECK_EQUAL(here->of_int, -5 - me());
    CHECK_EQUAL(here->of_long, 1L << (40 + me()));
    CHECK_REAL(here->of_float, 0.5F + (float)me());
    CHECK_REAL(here->of_double, -1e300 - me());
  }
  shared_free(at);
}

static void nonblocking_values_of_all_types(void) {
  void** const at = shared_allocate((armci_size_t)sizeof(Values) * nproc());
  armci_hdl_t handle;
  memset(&handle, 0xff, sizeof handle);
  for (int use = 0; use < 3; ++use) {
    for (int proc = 0; proc < nproc(); ++proc) {
      Values* const there = (Values*)at[proc] + me();
      armci_hdl_t* const used = use == 0 ? NULL : &handle;
      if (use == 2) {
        ARMCI_SET_AGGREGATE_HANDLE(&handle);
      }
      CHECK_OK(ARMCI_NbPutValueInt(use + proc, &there->of_int, proc, used));
      CHECK_OK(ARMCI_NbPutValueLong(use - proc, &there->of_long, proc, used));
      CHECK_OK(ARMCI_NbPutValueFloat((float)(2 * use + proc), &there->of_float, proc, used));
      CHECK_OK(ARMCI_NbPutValueDouble(use + 0.25 * proc, &there->of_double, proc, used));
    }
    CHECK_OK(use == 0 ? ARMCI_WaitAll() : ARMCI_Wait(&handle));
    for (int proc = 0; proc < nproc(); ++proc) {
      Values* const there = (Values*)at[proc] + me();
      CHECK_EQUAL(ARMCI_GetValueInt(&there->of_int, proc), use + proc);
      CHECK_EQUAL(ARMCI_GetValueLong(&there->of_long, proc), use - proc);
      CHECK_REAL(ARMCI_GetValueFloat(&there->of_float, proc), 2 * use + proc);
      CHECK_REAL(ARMCI_GetValueDouble(&there->of_double, proc), use + 0.25 * proc);
    }
  }
  shared_free(at);
}

static int compare_longs(const void* left, const void* right) {
  const long a = *(const long*)left;
  const long b = *(const long*)right;
  return (a > b) - (a < b);
}

/* The values that all processes got must be 0, step, 2 step, …: each once. */
static void check_tickets(const long* mine, int rounds, long step) {
  const int all = rounds * nproc();
  long* const tickets = zeroed((size_t)all * sizeof(long));
  memcpy(tickets + (long)rounds * me(), mine, (size_t)rounds * sizeof(long));
  armci_msg_lgop(tickets, all, "+");
  qsort(tickets, (size_t)all, sizeof(long), compare_longs);
  int wrong = 0;
  for (int number = 0; number < all; ++number) {
    wrong += tickets[number] != number * step;
  }
  CHECK_EQUAL(wrong, 0);
  free(tickets);
}

/* Enough for processes to meet at the word, which takes few rounds between nodes. */
static int meeting_rounds(void) {
  return armci_domain_count(ARMCI_DOMAIN_SMP) > 1 ? 200 : 10000;
}

static void fetch_and_add_gives_each_number_once(void) {
  enum { step = 3 };
  const int rounds = meeting_rounds();
  void** const at = shared_allocate(16);
  long* const tickets = zeroed((size_t)rounds * sizeof(long));
  for (int owner = 0; owner < nproc(); ++owner) {
    for (int round = 0; round < rounds; ++round) {
      int before = -1;
      CHECK_OK(ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &before, shared_at(at, owner, 8), step, owner));
      tickets[round] = before;
    }
    check_tickets(tickets, rounds, step);
    ARMCI_Barrier();
    for (int round = 0; round < rounds; ++round) {
      tickets[round] = -1;
      CHECK_OK(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &tickets[round], at[owner], step, owner));
    }
    check_tickets(tickets, rounds, step);
    ARMCI_Barrier();
  }
  CHECK_EQUAL(*(long*)at[me()], (long)rounds * step * nproc());
  CHECK_EQUAL(*(int*)(void*)shared_at(at, me(), 8), rounds * step * nproc());
  CHECK_EQUAL(*(int*)(void*)shared_at(at, me(), 12), 0);
  free(tickets);
  shared_free(at);
}

/* Each process swaps in its own numbers: every number but the last comes out once. */
static void swaps_lose_nothing(int is_long) {
  const int rounds = meeting_rounds();
  void** const at = shared_allocate(8);
  long sums[2] = {0, 0};
  for (int round = 0; round < rounds; ++round) {
    const int given = 1 + me() * rounds + round;
    int as_int = given;
    long as_long = given + (1L << 40);
    CHECK_OK(is_long ? ARMCI_Rmw(ARMCI_SWAP_LONG, &as_long, at[0], 0, 0)
                     : ARMCI_Rmw(ARMCI_SWAP, &as_int, at[0], 0, 0));
    sums[0] += is_long ? given + (1L << 40) : given;
    sums[1] += is_long ? as_long : as_int;
  }
  ARMCI_Barrier();
  armci_msg_lgop(sums, 2, "+");
  if (me() == 0) {
    CHECK_EQUAL(sums[0] - sums[1], is_long ? *(long*)at[0] : *(int*)at[0]);
  }
  shared_free(at);
}

static void swap_loses_nothing(void) {
  swaps_lose_nothing(0);
  swaps_lose_nothing(1);
}

static void negative_increments(void) {
  void** const at = shared_allocate(16);
  if (me() == 0) {
    int before = 0;
    long long_before = 0;
    const int proc = nproc() - 1;
    CHECK_OK(ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &before, at[proc], -7, proc));
    CHECK_EQUAL(before, 0);
    CHECK_OK(ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &before, at[proc], 1, proc));
    CHECK_EQUAL(before, -7);
    CHECK_OK(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &long_before, shared_at(at, proc, 8), -7, proc));
    CHECK_OK(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &long_before, shared_at(at, proc, 8), 0, proc));
    CHECK_EQUAL(long_before, -7);
    CHECK_EQUAL(ARMCI_GetValueInt(at[proc], proc), -6);
  }
  shared_free(at);
}

/* A process may also use its own words that ARMCI did not allocate. */
static void words_of_ones_own(void) {
  int word = 5;
  long wide = 1L << 40;
  int before = 0;
  long wide_before = 8;
  CHECK_OK(ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &before, &word, 3, me()));
  CHECK_EQUAL(before, 5);
  CHECK_EQUAL(word, 8);
  CHECK_OK(ARMCI_Rmw(ARMCI_SWAP_LONG, &wide_before, &wide, 0, me()));
  CHECK_EQUAL(wide_before, 1L << 40);
  CHECK_EQUAL(wide, 8);
}

/* A lock made of a swap: the word is 1 while the lock is held. */
static void swap_makes_a_lock(void) {
  enum { rounds = 50 };
  void** const at = shared_allocate(16);
  for (int round = 0; round < effort(rounds); ++round) {
    int held = 1;
    do {
      held = 1;
      CHECK_OK(ARMCI_Rmw(ARMCI_SWAP, &held, at[0], 0, 0));
    } while (held != 0 && !has_failed());
    const long before = ARMCI_GetValueLong(shared_at(at, 0, 8), 0);
    CHECK_OK(ARMCI_PutValueLong(before + 1, shared_at(at, 0, 8), 0));
    ARMCI_Fence(0);
    int open = 0;
    CHECK_OK(ARMCI_Rmw(ARMCI_SWAP, &open, at[0], 0, 0));
    CHECK_EQUAL(open, 1);
  }
  ARMCI_Barrier();
  CHECK_EQUAL(ARMCI_GetValueLong(shared_at(at, 0, 8), 0), (long)effort(rounds) * nproc());
  shared_free(at);
}

const Case atomic_cases[] = {
    {"values_of_all_types", values_of_all_types},
    {"nonblocking_values_of_all_types", nonblocking_values_of_all_types},
    {"fetch_and_add_gives_each_number_once", fetch_and_add_gives_each_number_once},
    {"swap_loses_nothing", swap_loses_nothing},
    {"negative_increments", negative_increments},
    {"words_of_ones_own", words_of_ones_own},
    {"swap_makes_a_lock", swap_makes_a_lock},
    {NULL, NULL}};
