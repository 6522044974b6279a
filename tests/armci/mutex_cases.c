/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Mutexes: ARMCI's single set, and sets of groups.
 */
#include <sched.h>
#include <stdlib.h>

#include "rma/armci/armcix.h"
#include "rma/armci/message.h"
#include "tests/armci/cases.h"
#include "tests/armci/check.h"
#include "tests/armci/memory.h"

enum { rounds = 40 };

/* Adds 1 to a word of a process by get and put; without a mutex some additions are lost. */
static void add_one(void* word, int proc) {
  long value = 0;
  CHECK_OK(ARMCI_Get(word, &value, sizeof value, proc));
  sched_yield(); /* so that others run in between even on one processor */
  ++value;
  CHECK_OK(ARMCI_Put(&value, word, sizeof value, proc));
  ARMCI_Fence(proc);
}

static void mutexes_exclude_all_others(void) {
  void** const at = shared_allocate(sizeof(long));
  CHECK_OK(ARMCI_Create_mutexes(1));
  for (int round = 0; round < effort(rounds); ++round) {
    const int owner = neighbour(round);
    ARMCI_Lock(0, owner);
    add_one(at[owner], owner);
    ARMCI_Unlock(0, owner);
  }
  ARMCI_Barrier();
  long sum = *(long*)at[me()];
  armci_msg_lgop(&sum, 1, "+");
  CHECK_EQUAL(sum, (long)effort(rounds) * nproc());
  CHECK_OK(ARMCI_Destroy_mutexes());
  shared_free(at);
}

/* Every process holds its own mutexes while it waits for all others to have theirs. One mutex
 * has another number than the others', and one has the same number but belongs to another
 * process. */
static void mutexes_of_other_numbers_and_processes_are_free(void) {
  const int same = nproc();
  CHECK_OK(ARMCI_Create_mutexes(nproc() + 1));
  ARMCI_Lock(me(), 0);
  ARMCI_Lock(same, neighbour(1));
  armci_msg_barrier();
  ARMCI_Unlock(me(), 0);
  ARMCI_Unlock(same, neighbour(1));
  CHECK_OK(ARMCI_Destroy_mutexes());
}

/* Mutex (i, p) protects word i of process p; each process takes two at a time, in one order. */
static void several_mutexes_at_once(void) {
  enum { per_process = 3 };
  const int all = per_process * nproc();
  void** const at = shared_allocate(per_process * (armci_size_t)sizeof(long));
  Random random = (Random)me() + 1;
  long done = 0;
  CHECK_OK(ARMCI_Create_mutexes(per_process));
  for (int round = 0; round < effort(rounds); ++round) {
    const int first = random_below(&random, all);
    const int second = random_below(&random, all);
    const int pair[] = {first < second ? first : second, first < second ? second : first};
    const int taken = first == second ? 1 : 2;
    for (int one = 0; one < taken; ++one) {
      ARMCI_Lock(pair[one] % per_process, pair[one] / per_process);
    }
    for (int one = 0; one < taken; ++one) {
      const int owner = pair[one] / per_process;
      add_one(shared_at(at, owner, pair[one] % per_process * (long)sizeof(long)), owner);
      ARMCI_Unlock(pair[one] % per_process, owner);
    }
    done += taken;
  }
  ARMCI_Barrier();
  long sums[2] = {done, 0};
  for (int one = 0; one < per_process; ++one) {
    sums[1] += ((long*)at[me()])[one];
  }
  armci_msg_lgop(sums, 2, "+");
  CHECK_EQUAL(sums[1], sums[0]);
  CHECK_OK(ARMCI_Destroy_mutexes());
  shared_free(at);
}

/* The number of mutexes differs by process, and may be 0. */
static void numbers_of_mutexes_differ(void) {
  CHECK_OK(ARMCI_Create_mutexes(me()));
  for (int proc = 0; proc < nproc(); ++proc) {
    for (int mutex = 0; mutex < proc; ++mutex) {
      ARMCI_Lock(mutex, proc);
      ARMCI_Unlock(mutex, proc);
    }
  }
  CHECK_OK(ARMCI_Destroy_mutexes());
  CHECK_OK(ARMCI_Create_mutexes(2));
  ARMCI_Lock(1, neighbour(1));
  ARMCI_Unlock(1, neighbour(1));
  CHECK_OK(ARMCI_Destroy_mutexes());
}

static void trylock_reports_the_holder(void) {
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  const armcix_mutex_hdl_t set = ARMCIX_Create_mutexes_hdl(2, &world);
  const int last = nproc() - 1;
  CHECK(set != NULL);
  if (me() == 0) {
    CHECK_EQUAL(ARMCIX_Trylock_hdl(set, 1, last), 0);
  }
  armci_msg_barrier();
  if (me() == last && last != 0) {
    CHECK_EQUAL(ARMCIX_Trylock_hdl(set, 1, last), 1);
    CHECK_EQUAL(ARMCIX_Trylock_hdl(set, 0, last), 0);
    CHECK_EQUAL(ARMCIX_Trylock_hdl(set, 1, 0), 0);
    ARMCIX_Unlock_hdl(set, 1, 0);
    ARMCIX_Unlock_hdl(set, 0, last);
  }
  armci_msg_barrier();
  if (me() == 0) {
    ARMCIX_Unlock_hdl(set, 1, last);
  }
  if (me() == last) {
    while (ARMCIX_Trylock_hdl(set, 1, last) == 1) { /* does not wait for an unlock's message */
      sched_yield();
    }
    ARMCIX_Unlock_hdl(set, 1, last);
  }
  CHECK_OK(ARMCIX_Destroy_mutexes_hdl(set));
}

/* Two sets at once, of groups in which processes have other ranks than in the job. */
static void sets_belong_to_groups(void) {
  ARMCI_Group world;
  ARMCI_Group half;
  ARMCI_Group_get_world(&world);
  CHECK_OK(ARMCIX_Group_split(&world, me() % 2, -me(), &half));
  int size = 0;
  int rank = -1;
  ARMCI_Group_size(&half, &size);
  CHECK_OK(ARMCI_Group_rank(&half, &rank));
  void** const at = shared_allocate(2 * (armci_size_t)sizeof(long));
  const armcix_mutex_hdl_t own = ARMCIX_Create_mutexes_hdl(1, &half);
  const armcix_mutex_hdl_t all = ARMCIX_Create_mutexes_hdl(1, &world);
  CHECK(own != NULL && all != NULL);
  const int target = ARMCI_Absolute_id(&half, 0);
  for (int round = 0; round < effort(rounds); ++round) {
    ARMCIX_Lock_hdl(own, 0, size - 1);
    add_one(at[target], target);
    ARMCIX_Unlock_hdl(own, 0, size - 1);
    ARMCIX_Lock_hdl(all, 0, 0);
    add_one(shared_at(at, 0, sizeof(long)), 0);
    ARMCIX_Unlock_hdl(all, 0, 0);
  }
  ARMCI_Barrier();
  CHECK_EQUAL(((long*)at[me()])[0], rank == 0 ? (long)effort(rounds) * size : 0);
  CHECK_EQUAL(((long*)at[me()])[1], me() == 0 ? (long)effort(rounds) * nproc() : 0);
  CHECK_OK(ARMCIX_Destroy_mutexes_hdl(own));
  CHECK_OK(ARMCIX_Destroy_mutexes_hdl(all));
  ARMCI_Group_free(&half);
  shared_free(at);
}

const Case mutex_cases[] = {{"mutexes_exclude_all_others", mutexes_exclude_all_others},
                            {"mutexes_of_other_numbers_and_processes_are_free",
                             mutexes_of_other_numbers_and_processes_are_free},
                            {"several_mutexes_at_once", several_mutexes_at_once},
                            {"numbers_of_mutexes_differ", numbers_of_mutexes_differ},
                            {"trylock_reports_the_holder", trylock_reports_the_holder},
                            {"sets_belong_to_groups", sets_belong_to_groups},
                            {NULL, NULL}};
