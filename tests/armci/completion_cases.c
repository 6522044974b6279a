/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fences and barriers: their guarantees for memory that other processes read. A message notifies
 * the reader, and guarantees nothing by itself.
 */
#include <stdlib.h>

#include "rma/armci/message.h"
#include "tests/armci/cases.h"
#include "tests/armci/check.h"
#include "tests/armci/memory.h"

enum { bytes = 20000, large = 1000000, tag = 41 };

typedef enum { fence, all_fence, group_fence, barrier } Completion;

static void complete(Completion how, int proc, ARMCI_Group* group) {
  if (how == fence) {
    ARMCI_Fence(proc);
  } else if (how == all_fence) {
    ARMCI_AllFence();
  } else if (how == group_fence) {
    ARMCI_GroupFence(group);
  } else {
    ARMCI_Barrier();
  }
}

/* Puts to a neighbour, and then notifies the process after that, which reads the neighbour's
 * memory. */
static void third_party_sees(Completion how) {
  void** const at = shared_allocate((armci_size_t)large);
  const int to = neighbour(1);
  const int reader = neighbour(2);
  const int writer = neighbour(2 * nproc() - 2);
  const int between = neighbour(nproc() - 1);
  ARMCI_Group world;
  char* const source = zeroed(large);
  char* const seen = zeroed(large);
  ARMCI_Group_get_world(&world);
  for (int round = 0; round < 10; ++round) {
    int token = round;
    int length = 0;
    memset(source, 16 * me() + round, large);
    CHECK_OK(round % 2 == 0 ? ARMCI_Put(source, at[to], large, to)
                            : ARMCI_NbPut(source, at[to], large, to, NULL));
    CHECK_OK(ARMCI_WaitAll());
    complete(how, to, &world);
    armci_msg_snd(tag, &token, sizeof token, reader);
    armci_msg_rcv(tag, &token, sizeof token, &length, writer);
    CHECK_EQUAL(token, round);
    /* The last bytes sent are checked first. */
    const unsigned char* const last = at[between];
    CHECK_EQUAL(ARMCI_Same_node(between) ? last[large - 1] : 16 * writer + round,
                16 * writer + round);
    CHECK_OK(ARMCI_Get(at[between], seen, large, between));
    memset(source, 16 * writer + round, large);
    CHECK_BYTES(seen, source, large);
    armci_msg_barrier();
  }
  free(source);
  free(seen);
  shared_free(at);
}

static void fence_completes_at_one_process(void) {
  third_party_sees(fence);
}
static void all_fence_completes_at_all(void) {
  third_party_sees(all_fence);
}
static void group_fence_completes_at_its_members(void) {
  third_party_sees(group_fence);
}
static void barrier_completes_everything(void) {
  third_party_sees(barrier);
}

static void implicit_puts_are_seen_after_a_barrier(void) {
  void** const at = shared_allocate((armci_size_t)sizeof(long) * nproc());
  long value = 0;
  for (int round = 1; round <= 50; ++round) {
    value = round + 100 * me();
    for (int proc = 0; proc < nproc(); ++proc) {
      CHECK_OK(ARMCI_NbPut(&value, shared_at(at, proc, me() * (long)sizeof(long)), sizeof value,
                           proc, NULL));
    }
    CHECK_OK(ARMCI_WaitAll());
    ARMCI_Barrier();
    for (int from = 0; from < nproc(); ++from) {
      CHECK_EQUAL(((long*)at[me()])[from], round + 100 * from);
    }
    ARMCI_Barrier();
  }
  shared_free(at);
}

/* A fence completes operations with a null handle, and with a handle that is waited for later. */
static void fences_complete_what_is_not_waited_for(void) {
  void** const at = shared_allocate(bytes);
  char* const source = zeroed(bytes);
  armci_hdl_t handle;
  const int to = neighbour(1);
  const int from = neighbour(nproc() - 1);
  fill_pattern(source, bytes, me());
  ARMCI_INIT_HANDLE(&handle);
  CHECK_OK(ARMCI_NbPut(source, at[to], bytes / 2, to, NULL));
  CHECK_OK(ARMCI_NbPut(source + bytes / 2, shared_at(at, to, bytes / 2), bytes / 2, to, &handle));
  ARMCI_Barrier();
  char* const model = zeroed(bytes);
  fill_pattern(model, bytes, from);
  CHECK_BYTES(at[me()], model, bytes);
  CHECK_OK(ARMCI_Wait(&handle));
  CHECK_OK(ARMCI_WaitAll());
  free(source);
  free(model);
  shared_free(at);
}

/* A process that leaves a barrier knows that all processes have reached it. */
static void barriers_hold_all_back(void) {
  void** const at = shared_allocate(sizeof(long));
  for (long round = 1; round <= 50; ++round) {
    long before = 0;
    CHECK_OK(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, at[0], 1, 0));
    if (round % 2 == 0) {
      ARMCI_Barrier();
    } else {
      armci_msg_barrier();
    }
    CHECK(ARMCI_GetValueLong(at[0], 0) >= round * nproc());
    armci_msg_barrier();
  }
  shared_free(at);
}

static void fences_without_operations(void) {
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  for (int round = 0; round < 20; ++round) {
    for (int proc = 0; proc < nproc(); ++proc) {
      ARMCI_Fence(proc);
    }
    ARMCI_AllFence();
    ARMCI_GroupFence(&world);
  }
}

const Case completion_cases[] = {
    {"fence_completes_at_one_process", fence_completes_at_one_process},
    {"all_fence_completes_at_all", all_fence_completes_at_all},
    {"group_fence_completes_at_its_members", group_fence_completes_at_its_members},
    {"barrier_completes_everything", barrier_completes_everything},
    {"implicit_puts_are_seen_after_a_barrier", implicit_puts_are_seen_after_a_barrier},
    {"fences_complete_what_is_not_waited_for", fences_complete_what_is_not_waited_for},
    {"barriers_hold_all_back", barriers_hold_all_back},
    {"fences_without_operations", fences_without_operations},
    {NULL, NULL}};
