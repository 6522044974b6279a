/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Errors that are returned instead of ending the job: codes and words, also of functions without a
 * result.
 */
#include <limits.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rma/armci/armcix.h"
#include "rma/armci/message.h"
#include "tests/armci/cases.h"
#include "tests/armci/check.h"
#include "tests/armci/memory.h"

static void arguments_that_make_no_sense(void) {
  void** const at = shared_allocate(64);
  long word = 1;
  int strides[] = {8};
  int counts[] = {8, 2};
  int negative[] = {8, -1};
  armci_giov_t set = {NULL, NULL, 8, 1};
  CHECK_EQUAL(ARMCI_Put(&word, at[0], -1, 0), FAIL);
  CHECK_ERROR(FAIL, "ARMCI_Put: a transfer of -1 bytes");
  CHECK_EQUAL(ARMCI_Acc(99, &word, &word, at[0], 8, 0), FAIL);
  CHECK_ERROR(FAIL, "99 is not an accumulate operation");
  CHECK_EQUAL(ARMCI_Acc(ARMCI_ACC_LNG, NULL, &word, at[0], 8, 0), FAIL);
  CHECK_ERROR(FAIL, "scale factor is null");
  CHECK_EQUAL(ARMCI_Acc(ARMCI_ACC_LNG, &word, &word, at[0], 7, 0), FAIL);
  CHECK_ERROR(FAIL, "ARMCI_Acc");
  CHECK_EQUAL(ARMCI_PutS(&word, strides, at[0], strides, counts, 9, 0), FAIL);
  CHECK_ERROR(FAIL, "9 stride levels");
  CHECK_EQUAL(ARMCI_PutS(&word, NULL, at[0], strides, counts, 1, 0), FAIL);
  CHECK_ERROR(FAIL, "array of source strides is null");
  CHECK_EQUAL(ARMCI_GetS(at[0], strides, &word, strides, negative, 1, 0), FAIL);
  CHECK_ERROR(FAIL, "ARMCI_GetS");
  CHECK_EQUAL(ARMCI_PutV(&set, 1, 0), FAIL);
  CHECK_ERROR(FAIL, "null array of source pointers");
  CHECK_EQUAL(ARMCI_Rmw(99, &word, at[0], 1, 0), FAIL);
  CHECK_ERROR(FAIL, "99 is not a read-modify-write");
  CHECK_EQUAL(ARMCI_Test(NULL), FAIL);
  CHECK_ERROR(FAIL, "handle is null");
  shared_free(at);
}

/* Nothing was sent, and the memory is unchanged. */
static void memory_of_no_process(void) {
  void** const at = shared_allocate(64);
  char source[200] = {1};
  const int proc = neighbour(1);
  CHECK_EQUAL(ARMCI_Put(source, shared_at(at, proc, 60), 200000000, proc), FAIL2);
  CHECK_ERROR(FAIL2, "ARMCI_Put");
  if (nproc() > 1) {
    CHECK(ARMCI_Get(source, source + 100, 8, proc) < 0);
    CHECK_ERROR(FAIL2, "ARMCI_Get");
  }
  CHECK(ARMCI_Put(source, at[0], 8, nproc()) < 0);
  CHECK(ARMCIX_Error_code() < 0);
  ARMCIX_Error_clear();
  CHECK(ARMCI_Get(at[0], source, 8, -1) < 0);
  ARMCIX_Error_clear();
  ARMCI_Barrier();
  CHECK_EQUAL(*(long*)at[me()], 0);
  shared_free(at);
}

static void memory_for_others_has_an_end(void) {
  armci_meminfo_t info;
  ARMCI_Memget((size_t)1 << 50U, &info, 0);
  CHECK_ERROR(FAIL6, "do not fit the free part of the memory set aside");
  ARMCI_Memget(0, &info, 0);
  CHECK_ERROR(FAIL, "0 bytes");
  ARMCI_Memget(10, &info, 1);
  CHECK_ERROR(FAIL, "memflg is 1");
  ARMCI_Memget(100, &info, 0);
  CHECK_POINTER(ARMCI_Memat(&info, 101), NULL);
  CHECK_ERROR(FAIL2, "byte 101");
  armci_meminfo_t copy = info;
  ARMCI_Memctl(&info);
  ARMCI_Memctl(&copy);
  CHECK_ERROR(FAIL, "already freed");
}

static void what_returns_nothing_has_a_text(void) {
  int process = INT_MAX;
  ARMCI_Group group = 4711;
  ARMCI_Group none = -1;
  ARMCI_Group_set_default(&group);
  CHECK_ERROR(FAIL, "there is no group 4711");
  ARMCI_GroupFence(&none);
  CHECK_ERROR(FAIL, "no group -1");
  ARMCI_Group_create(1, &process, &group);
  CHECK_ERROR(FAIL, "there is no process");
  ARMCI_Lock(0, 0);
  CHECK_ERROR(FAIL, "there are no mutexes");
  ARMCI_Fence(nproc());
  CHECK(ARMCIX_Error_code() < 0);
  ARMCIX_Error_clear();
  CHECK_EQUAL(armci_domain_count(1), 0);
  CHECK_ERROR(FAIL, "no kind of domain 1");
  armci_msg_igop(&process, 1, "?");
  CHECK_ERROR(FAIL, "'?' is not a reduction");
  armci_msg_bcast(&process, sizeof process, nproc());
  CHECK_ERROR(FAIL, "the root is");
}

static void mutexes_that_are_not_ones_own(void) {
  CHECK_EQUAL(ARMCI_Destroy_mutexes(), FAIL);
  CHECK_ERROR(FAIL, "there are no mutexes");
  CHECK_EQUAL(ARMCI_Create_mutexes(me() == 0 ? -1 : 1), FAIL);
  CHECK_ERROR(FAIL, "-1 locks");
  CHECK_OK(ARMCI_Create_mutexes(1));
  CHECK_EQUAL(ARMCI_Create_mutexes(1), FAIL);
  CHECK_ERROR(FAIL, "there is a set of mutexes already");
  ARMCI_Lock(1, 0);
  CHECK_ERROR(FAIL2, "no lock 1 at rank 0");
  ARMCI_Lock(0, nproc());
  CHECK_ERROR(FAIL, "is not one of those that have the mutexes");
  ARMCI_Unlock(0, me());
  CHECK_ERROR(FAIL, "does not hold");
  CHECK_OK(ARMCI_Destroy_mutexes());
  CHECK_EQUAL(ARMCIX_Destroy_mutexes_hdl(NULL), FAIL);
  CHECK_ERROR(FAIL, "the set of mutexes is null");
}

static void invalid_processes(void) {
  static const int numbers[] = {-1, INT_MAX};
  long word = 0;
  for (int number = 0; number < 2; ++number) {
    const int proc = numbers[number];
    CHECK_EQUAL(ARMCI_WaitProc(proc), FAIL);
    CHECK_ERROR(FAIL, "there is no process");
    CHECK_EQUAL(armci_notify(proc), -1);
    CHECK_ERROR(FAIL, "there is no process");
    CHECK_EQUAL(armci_notify_wait(proc, NULL), -1);
    CHECK_ERROR(FAIL, "there is no process");
    armci_msg_snd(1, &word, sizeof word, proc);
    CHECK_ERROR(FAIL, "there is no process");
    armci_msg_rcv(1, &word, sizeof word, NULL, proc);
    CHECK_ERROR(FAIL, "there is no process");
    CHECK_EQUAL(ARMCI_Same_node(proc), 0);
    CHECK_ERROR(FAIL, "there is no process");
  }
}

static void collectives_agree_that_they_fail(void) {
  void** const at = zeroed((size_t)nproc() * sizeof(void*));
  CHECK_EQUAL(ARMCI_Malloc(at, me() == nproc() - 1 ? -1 : 64), FAIL);
  CHECK_ERROR(FAIL, "-1 bytes");
  CHECK_OK(ARMCI_Malloc(at, 64));
  char* const wrong = (char*)at[me()] + (me() == 0 ? 8 : 0);
  CHECK_EQUAL(ARMCI_Free(wrong), FAIL);
  CHECK_ERROR(FAIL, "not at its start");
  CHECK_OK(ARMCI_Free(at[me()]));
  if (nproc() > 1) {
    CHECK(ARMCI_Put(at, at[neighbour(1)], 8, neighbour(1)) < 0);
    ARMCIX_Error_clear();
  }
  armci_msg_barrier();
  free(at);
}

static void messages_longer_than_the_buffer(void) {
  char message[100];
  int length = 0;
  fill_pattern(message, sizeof message, 1);
  armci_msg_snd(3, message, sizeof message, neighbour(1));
  armci_msg_rcv(3, message, 10, &length, neighbour(nproc() - 1));
  CHECK(ARMCIX_Error_code() < 0);
  ARMCIX_Error_clear();
}

static void errors_can_be_forgotten(void) {
  CHECK_OK(ARMCIX_Error_code());
  CHECK_EQUAL(ARMCIX_Error_message()[0], 0);
  CHECK_EQUAL(ARMCI_Put(NULL, NULL, -5, 0), FAIL);
  CHECK_EQUAL(ARMCIX_Error_code(), FAIL);
  ARMCIX_Error_clear();
  CHECK_OK(ARMCIX_Error_code());
  CHECK_EQUAL(ARMCIX_Error_message()[0], 0);
}

static void loads_and_stores_without_access(void) {
  void** const at = shared_allocate(64);
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  CHECK_OK(ARMCIX_Mode_set(ARMCIX_MODE_NO_LOAD_STORE, at[me()], &world));
  ARMCI_Access_begin(at[me()]);
  CHECK_ERROR(FAIL, "without loads and stores");
  CHECK_EQUAL(ARMCIX_Mode_set(0, at[me()], &world), FAIL);
  CHECK_ERROR(FAIL, "is not a combination of access modes");
  ARMCI_Access_end(at[me()]);
  CHECK_ERROR(FAIL, "was begun");
  shared_free(at);
}

/* A forked child that ends like the program itself: calls every function that ends ARMCI, and
 * reports an error. */
static void child_of_a_process(void* const* at) {
  long word = 1;
  const int is_refused = ARMCI_Put(&word, at[neighbour(1)], sizeof word, neighbour(1)) == FAIL3;
  const int has_ended = ARMCI_Finalize() == 0;
  armci_msg_finalize();
  ARMCI_Error("ended on purpose, in a child", is_refused && has_ended ? 5 : 6);
}

static void a_child_ends_alone(void) {
  void** const at = shared_allocate(64);
  int state = -1;
  const pid_t child = fork();
  if (child == 0) {
    child_of_a_process(at);
  }
  CHECK_EQUAL(waitpid(child, &state, 0), child);
  CHECK(WIFEXITED(state));
  CHECK_EQUAL(WEXITSTATUS(state), 5);
  armci_msg_barrier();
  CHECK_OK(ARMCI_Put(&state, at[neighbour(1)], sizeof state, neighbour(1)));
  shared_free(at);
}

const Case error_cases[] = {{"arguments_that_make_no_sense", arguments_that_make_no_sense},
                            {"memory_of_no_process", memory_of_no_process},
                            {"memory_for_others_has_an_end", memory_for_others_has_an_end},
                            {"what_returns_nothing_has_a_text", what_returns_nothing_has_a_text},
                            {"mutexes_that_are_not_ones_own", mutexes_that_are_not_ones_own},
                            {"invalid_processes", invalid_processes},
                            {"collectives_agree_that_they_fail", collectives_agree_that_they_fail},
                            {"messages_longer_than_the_buffer", messages_longer_than_the_buffer},
                            {"a_child_ends_alone", a_child_ends_alone},
                            {"errors_can_be_forgotten", errors_can_be_forgotten},
                            {"loads_and_stores_without_access", loads_and_stores_without_access},
                            {NULL, NULL}};
