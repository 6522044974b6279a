/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Puts that raise a flag, and notifications: a process that sees the flag sees the data.
 */
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "rma/armci/message.h"
#include "tests/armci/cases.h"
#include "tests/armci/check.h"
#include "tests/armci/memory.h"

enum { bytes = 1000, rounds = 60, far = 24, block = 8, blocks = bytes / block };

/* For each process, the data that it sends, and its flag. */
typedef struct {
  int flag;
  char data[blocks * far];
} Slot;

static int flag_of(void** at, int from) {
  return atomic_load_explicit((_Atomic int*)&((Slot*)at[me()])[from].flag, memory_order_acquire);
}

static void wait_for_flag(void** at, int from, int value) {
  while (flag_of(at, from) != value) {
    ARMCI_Poll();
    sched_yield(); /* there may be more processes than processors */
  }
}

typedef int (*FlagCall)(char* source, Slot* slot, int value, int proc);

static int contiguous(char* source, Slot* slot, int value, int proc) {
  return ARMCI_Put_flag(source, slot->data, bytes, &slot->flag, value, proc);
}

static int strided(char* source, Slot* slot, int value, int proc) {
  int strides[] = {block};
  int counts[] = {block, blocks};
  return ARMCI_PutS_flag(source, strides, slot->data, strides, counts, 1, &slot->flag, value, proc);
}

static int strided_direct(char* source, Slot* slot, int value, int proc) {
  int counts[] = {bytes};
  return ARMCI_PutS_flag_dir(source, NULL, slot->data, NULL, counts, 0, &slot->flag, value, proc);
}

/* All processes to all others, round after round; each replies to a round before the next
 * begins. */
static void raise_flags(FlagCall call) {
  void** const at = shared_allocate((armci_size_t)sizeof(Slot) * nproc());
  char source[bytes];
  char model[bytes];
  for (int round = 1; round <= effort(rounds); ++round) {
    fill_pattern(source, bytes, me() + round);
    for (int step = 0; step < nproc(); ++step) {
      const int proc = neighbour(step);
      CHECK_OK(call(source, (Slot*)at[proc] + me(), round, proc));
    }
    for (int from = 0; from < nproc(); ++from) {
      wait_for_flag(at, from, round);
      fill_pattern(model, bytes, from + round);
      CHECK_BYTES(((Slot*)at[me()])[from].data, model, bytes);
    }
    armci_msg_barrier();
  }
  shared_free(at);
}

static void put_with_flag(void) {
  raise_flags(contiguous);
}
static void strided_put_with_flag(void) {
  raise_flags(strided);
}
static void direct_put_with_flag(void) {
  raise_flags(strided_direct);
}

/* The flag of a strided put with gaps between its blocks, and of one without data. */
static void flags_of_separate_and_empty_blocks(void) {
  void** const at = shared_allocate((armci_size_t)sizeof(Slot) * nproc());
  char source[bytes];
  int source_strides[] = {block};
  int target_strides[] = {far};
  int counts[] = {block, blocks};
  const int to = neighbour(1);
  const int from = neighbour(nproc() - 1);
  Slot* const there = (Slot*)at[to] + me();
  const Slot* const here = (Slot*)at[me()] + from;
  fill_pattern(source, bytes, me());
  CHECK_OK(ARMCI_PutS_flag(source, source_strides, there->data, target_strides, counts, 1,
                           &there->flag, 5, to));
  wait_for_flag(at, from, 5);
  for (int number = 0; number < blocks; ++number) {
    fill_pattern(source, bytes, from);
    CHECK_BYTES(here->data + (long)far * number, source + (long)block * number, block);
  }
  armci_msg_barrier();
  CHECK_OK(ARMCI_Put_flag(NULL, NULL, 0, &there->flag, -6, to));
  wait_for_flag(at, from, -6);
  shared_free(at);
}

/* To this process itself, where neither need be ARMCI memory. */
static void flag_of_ones_own(void) {
  double data[4] = {0};
  const double source[4] = {1, 2, 3, 4};
  int flag = 0;
  CHECK_OK(ARMCI_Put_flag((void*)source, data, (int)sizeof data, &flag, 7, me()));
  CHECK_EQUAL(flag, 7);
  CHECK(memcmp(data, source, sizeof data) == 0);
}

/* So much data that a process that saw the flag too early would find the data missing. */
static void flag_comes_after_much_data(void) {
  enum { large = 300000 };
  const long flag_offset = large + 64 - large % 64;
  void** const at = shared_allocate(flag_offset + 64);
  char* const source = zeroed(large);
  const int to = neighbour(1);
  const int from = neighbour(nproc() - 1);
  const unsigned char* const here = at[me()];
  _Atomic int* const flag = (_Atomic int*)(void*)shared_at(at, me(), flag_offset);
  for (int round = 1; round <= 20; ++round) {
    memset(source, 10 * me() + round, large);
    CHECK_OK(ARMCI_Put_flag(source, at[to], large, (int*)(void*)shared_at(at, to, flag_offset),
                            round, to));
    while (atomic_load_explicit(flag, memory_order_acquire) != round) {
      sched_yield();
    }
    CHECK_EQUAL(here[large - 1], 10 * from + round);
    memset(source, 10 * from + round, large);
    CHECK_BYTES(here, source, large);
    armci_msg_barrier();
  }
  free(source);
  shared_free(at);
}

/* Puts of many sizes before a notification have arrived when it arrives. */
static void notification_comes_after_the_data(void) {
  void** const at = shared_allocate((armci_size_t)sizeof(Slot) * nproc());
  char source[bytes];
  const int to = neighbour(1);
  const int from = neighbour(nproc() - 1);
  int sent = 0;
  Slot* const there = (Slot*)at[to] + me();
  const Slot* const here = (Slot*)at[me()] + from;
  char model[bytes];
  for (int round = 1; round <= effort(rounds); ++round) {
    int waited = 0;
    const int size = 1 + 37 * round % bytes;
    fill_pattern(source, (size_t)size, me() + round);
    CHECK_OK(ARMCI_Put(source, there->data, size, to));
    const int number = armci_notify(to);
    CHECK(round == 1 || number == sent + 1);
    sent = number;
    CHECK(armci_notify_wait(from, &waited) >= sent);
    CHECK_EQUAL(waited, sent);
    fill_pattern(model, (size_t)size, from + round);
    CHECK_BYTES(here->data, model, size);
    armci_msg_barrier();
  }
  shared_free(at);
}

/* Implicit puts without a wait also come before the notification. */
static void notification_comes_after_implicit_puts(void) {
  enum { large = 300000 };
  void** const at = shared_allocate(large);
  char* const source = zeroed(large);
  const int to = neighbour(1);
  const int from = neighbour(nproc() - 1);
  fill_pattern(source, large, me());
  CHECK_OK(ARMCI_NbPut(source, at[to], large, to, NULL));
  armci_notify(to);
  armci_notify_wait(from, NULL);
  char* const model = zeroed(large);
  fill_pattern(model, large, from);
  CHECK_BYTES(at[me()], model, large);
  CHECK_OK(ARMCI_WaitAll());
  free(source);
  free(model);
  shared_free(at);
}

/* Notifications are counted, not overwritten, by pair of processes and direction. */
static void many_notifications_in_a_row(void) {
  enum { many = 100 };
  const int to = neighbour(1);
  const int from = neighbour(nproc() - 1);
  int first = 0;
  int waited = 0;
  for (int round = 0; round < many; ++round) {
    const int sent = armci_notify(to);
    first = round == 0 ? sent : first;
    CHECK_EQUAL(sent, first + round);
  }
  for (int round = 0; round < many; ++round) {
    CHECK(armci_notify_wait(from, round % 2 == 0 ? &waited : NULL) >= first + round);
    if (round % 2 == 0) {
      CHECK_EQUAL(waited, first + round);
    }
  }
}

/* Between each two processes, to and fro. */
static void notifications_to_and_fro(void) {
  for (int other = 0; other < nproc(); ++other) {
    for (int round = 0; round < 30 && other != me(); ++round) {
      if (me() < other) {
        armci_notify(other);
        armci_notify_wait(other, NULL);
      } else {
        armci_notify_wait(other, NULL);
        armci_notify(other);
      }
    }
  }
}

const Case flag_cases[] = {
    {"put_with_flag", put_with_flag},
    {"flag_of_ones_own", flag_of_ones_own},
    {"strided_put_with_flag", strided_put_with_flag},
    {"direct_put_with_flag", direct_put_with_flag},
    {"flags_of_separate_and_empty_blocks", flags_of_separate_and_empty_blocks},
    {"flag_comes_after_much_data", flag_comes_after_much_data},
    {"notification_comes_after_the_data", notification_comes_after_the_data},
    {"notification_comes_after_implicit_puts", notification_comes_after_implicit_puts},
    {"many_notifications_in_a_row", many_notifications_in_a_row},
    {"notifications_to_and_fro", notifications_to_and_fro},
    {NULL, NULL}};
