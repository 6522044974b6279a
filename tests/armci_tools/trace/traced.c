/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls ARMCI's functions known numbers of times, for trace_counts: each process, with the next as
 * its target, 1 put of 8 bytes, 2 gets, 3 accumulates and so on.
 */
#include <stdlib.h>

#include "armci.h"
#include "message.h"

enum { bytes = 8, rows = 4, stride = 32, memory_bytes = 1024 };

static double here[memory_bytes / sizeof(double)];

static void repeat_plain(void* there, int proc) {
  double scale = 1;
  ARMCI_Put(here, there, bytes, proc);
  for (int i = 0; i < 2; ++i) {
    ARMCI_Get(there, here, bytes, proc);
  }
  for (int i = 0; i < 3; ++i) {
    ARMCI_Acc(ARMCI_ACC_DBL, &scale, here, there, bytes, proc);
  }
}

static void repeat_strided(void* there, int proc) {
  double scale = 1;
  int strides[] = {stride};
  int count[] = {bytes, rows};
  for (int i = 0; i < 4; ++i) {
    ARMCI_PutS(here, strides, there, strides, count, 1, proc);
  }
  for (int i = 0; i < 5; ++i) {
    ARMCI_GetS(there, strides, here, strides, count, 1, proc);
  }
  for (int i = 0; i < 6; ++i) {
    ARMCI_AccS(ARMCI_ACC_DBL, &scale, here, strides, there, strides, count, 1, proc);
  }
}

static void repeat_vectors(char* there, int proc) {
  double scale = 1;
  void* sources[] = {here, here + 2, here + 4};
  void* targets[] = {there, there + 16, there + 32};
  armci_giov_t set = {
      .src_ptr_array = sources, .dst_ptr_array = targets, .bytes = bytes, .ptr_array_len = 3};
  for (int i = 0; i < 7; ++i) {
    ARMCI_PutV(&set, 1, proc);
  }
  for (int i = 0; i < 8; ++i) {
    ARMCI_AccV(ARMCI_ACC_DBL, &scale, &set, 1, proc);
  }
  armci_giov_t back = {
      .src_ptr_array = targets, .dst_ptr_array = sources, .bytes = bytes, .ptr_array_len = 3};
  for (int i = 0; i < 9; ++i) {
    ARMCI_GetV(&back, 1, proc);
  }
}

static void repeat_nonblocking(void* there, int proc) {
  enum { gets = 11 };
  static double fetched[gets]; /* each operation under way has its own destination */
  double scale = 1;
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  for (int i = 0; i < 10; ++i) {
    ARMCI_NbPut(here, there, bytes, proc, &handle);
    ARMCI_Wait(&handle);
  }
  for (int i = 0; i < gets; ++i) {
    ARMCI_NbGet(there, &fetched[i], bytes, proc, NULL);
  }
  for (int i = 0; i < 12; ++i) {
    ARMCI_NbAcc(ARMCI_ACC_DBL, &scale, here, there, bytes, proc, NULL);
  }
  ARMCI_WaitAll();
}

static void repeat_atomic(void* there, int proc) {
  long before = 0;
  for (int i = 0; i < 13; ++i) {
    ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, there, 1, proc);
  }
  for (int i = 0; i < 14; ++i) {
    ARMCI_Fence(proc);
  }
}

int main(void) {
  ARMCI_Init();
  const int me = armci_msg_me();
  const int next = (me + 1) % armci_msg_nproc();
  void** memory = malloc((size_t)armci_msg_nproc() * sizeof *memory);
  ARMCI_Malloc(memory, memory_bytes);
  repeat_plain(memory[next], next);
  repeat_strided(memory[next], next);
  repeat_vectors(memory[next], next);
  repeat_nonblocking(memory[next], next);
  repeat_atomic(memory[next], next);
  ARMCI_Barrier();
  ARMCI_Free(memory[me]);
  free(memory);
  ARMCI_Finalize();
  return 0;
}
