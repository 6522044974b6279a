/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A profiling tool as parmci.h describes it: this program defines some functions of ARMCI, counts
 * their calls, and calls their second names. Like such tools it includes armci.h only, which also
 * declares the second names and the messages.
 */
#include <stdio.h>

#include "rma/armci/armci.h"

static int puts_counted;
static int barriers_counted;
static long bytes_allocated;

int ARMCI_Put(void* src, void* dst, int bytes, int proc) {
  ++puts_counted;
  return PARMCI_Put(src, dst, bytes, proc);
}

void ARMCI_Barrier(void) {
  ++barriers_counted;
  PARMCI_Barrier();
}

int ARMCI_Malloc(void* ptr_arr[], armci_size_t bytes) {
  bytes_allocated += bytes;
  return PARMCI_Malloc(ptr_arr, bytes);
}

int main(int argc, char** argv) {
  enum { most = 64 };
  void* at[most];
  int number = 0;
  armci_msg_init(&argc, &argv);
  if (ARMCI_Init() != 0 || armci_msg_nproc() > most || ARMCI_Malloc(at, 100) != 0) {
    return 1;
  }
  const int me = armci_msg_me();
  const int to = (me + 1) % armci_msg_nproc();
  for (number = 0; number < 5; ++number) {
    int value = 10 * me + number;
    ARMCI_Put(&value, at[to], sizeof value, to);
  }
  ARMCI_Barrier();
  const int from = (me + armci_msg_nproc() - 1) % armci_msg_nproc();
  const int is_right = *(int*)at[me] == 10 * from + 4 && puts_counted == 5 &&
                       barriers_counted == 1 && bytes_allocated == 100;
  if (!is_right) {
    printf("[%d] %d in memory, %d puts, %d barriers, %ld bytes\n", me, *(int*)at[me], puts_counted,
           barriers_counted, bytes_allocated);
  }
  ARMCI_Free(at[me]);
  ARMCI_Finalize();
  armci_msg_finalize();
  return !is_right;
}
