/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads of each process: transfers, their own handles, read-modify-write and values.
 */
#include <pthread.h>
#include <stdlib.h>

#include "rma/armci/armcix.h"
#include "rma/armci/message.h"
#include "tests/armci/cases.h"
#include "tests/armci/check.h"
#include "tests/armci/memory.h"

enum { threads = 4, part = 800, rounds = 100 };

/* A thread's part of every process's memory, a counter for all, and the number of errors. */
typedef struct {
  void** at;
  int number;
  int wrong;
} Worker;

static void* start_worker(void* argument) {
  Worker* const worker = argument;
  const long offset = 64 + ((long)threads * me() + worker->number) * part;
  char source[part];
  char seen[part];
  long one = 1;
  armci_hdl_t handle;
  memset(&handle, 0xff, sizeof handle);
  if (worker->number % 2 == 1) {
    ARMCI_SET_AGGREGATE_HANDLE(&handle);
  }
  for (int round = 0; round < effort(rounds); ++round) {
    const int proc = neighbour(round + worker->number);
    char* const there = shared_at(worker->at, proc, offset);
    long before = -1;
    int code = 0;
    fill_pattern(source, part, me() * threads + worker->number + round);
    code |= ARMCI_NbPut(source, there, part / 2, proc, &handle);
    code |= ARMCI_NbPut(source + part / 2, there + part / 2, part / 2, proc, &handle);
    code |= ARMCI_Wait(&handle);
    code |= ARMCI_NbGet(there, seen, part, proc, &handle);
    code |= ARMCI_Wait(&handle);
    code |= ARMCI_Acc(ARMCI_ACC_LNG, &one, &one, worker->at[proc], sizeof one, proc);
    code |= ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, shared_at(worker->at, 0, 8), 1, 0);
    worker->wrong += code != 0 || memcmp(seen, source, part) != 0 || before < 0;
  }
  return NULL;
}

static void threads_use_what_they_may(void) {
  void** const at = shared_allocate(64 + (armci_size_t)threads * part * nproc());
  pthread_t running[threads];
  Worker workers[threads];
  for (int number = 0; number < threads; ++number) {
    workers[number] = (Worker){at, number, 0};
    CHECK_OK(pthread_create(&running[number], NULL, start_worker, &workers[number]));
  }
  for (int number = 0; number < threads; ++number) {
    CHECK_OK(pthread_join(running[number], NULL));
    CHECK_EQUAL(workers[number].wrong, 0);
  }
  ARMCI_Barrier();
  long added = *(long*)at[me()];
  armci_msg_lgop(&added, 1, "+");
  CHECK_EQUAL(added, (long)effort(rounds) * threads * nproc());
  CHECK_EQUAL(ARMCI_GetValueLong(shared_at(at, 0, 8), 0), (long)effort(rounds) * threads * nproc());
  shared_free(at);
}

/* Each thread has its own last error. */
static void* make_error(void* argument) {
  int* const wrong = argument;
  *wrong += ARMCIX_Error_code() != 0;
  *wrong += ARMCI_Put(NULL, NULL, -1, 0) != FAIL;
  *wrong += ARMCIX_Error_code() != FAIL;
  return NULL;
}

static void errors_are_the_threads(void) {
  pthread_t other;
  int wrong = 0;
  CHECK_OK(pthread_create(&other, NULL, make_error, &wrong));
  CHECK_OK(pthread_join(other, NULL));
  CHECK_EQUAL(wrong, 0);
  CHECK_OK(ARMCIX_Error_code());
}

const Case thread_cases[] = {{"threads_use_what_they_may", threads_use_what_they_may},
                             {"errors_are_the_threads", errors_are_the_threads},
                             {NULL, NULL}};
