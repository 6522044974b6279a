/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A first program with ARMCI: memory that all processes reach, put, get, accumulate.
 *
 *     mpicc hello.c $(pkg-config --cflags --libs tessera_armci) -o hello
 *     tessera-run -n 4 ./hello      or mpirun -n 4 ./hello
 */
#include <armci.h>
#include <message.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  ARMCI_Init();
  const int me = armci_msg_me();
  const int processes = armci_msg_nproc();
  const int next = (me + 1) % processes;

  /* Two numbers on each process, both 0. memory[p] is the address of those of process p. */
  void** memory = (void**)malloc((size_t)processes * sizeof *memory);
  ARMCI_Malloc(memory, 2 * sizeof(double));

  /* The next process need not do anything for this. */
  double mine = me;
  ARMCI_Put(&mine, memory[next], sizeof mine, next);

  /* When this returns, all that any process put has arrived. */
  ARMCI_Barrier();

  double last = 0;
  ARMCI_Get(memory[0], &last, sizeof last, 0);

  /* Each process adds 0.5 * 2 to one number; no addition is lost. */
  double half = 0.5;
  double two = 2;
  double* const sum = (double*)memory[0] + 1;
  ARMCI_Acc(ARMCI_ACC_DBL, &half, &two, sum, sizeof two, 0);
  ARMCI_Barrier();

  if (me == 0) {
    printf("%d processes: process 0 was sent %g by its neighbour, and the sum is %g\n", processes,
           last, *sum);
  }

  ARMCI_Free(memory[me]);
  free(memory);
  ARMCI_Finalize();
  return 0;
}
