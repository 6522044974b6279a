/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program that starts and ends like the tests of Global Arrays, by the names of mp3.h: each
 * process puts its number to the next one.
 */
#include <mp3.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int ranks = 0;
  int rank = -1;
  MP_INIT(argc, argv);
  ARMCI_INIT(argc, argv);
  MP_PROCS(&ranks);
  MP_MYID(&rank);
  void** const at = malloc((size_t)ranks * sizeof(void*));
  ARMCI_Malloc(at, sizeof(int));
  const int next = (rank + 1) % ranks;
  const double begun = MP_TIMER();
  ARMCI_Put(&rank, at[next], sizeof(int), next);
  ARMCI_AllFence();
  MP_BARRIER();
  const int before = (rank + ranks - 1) % ranks;
  const int is_good = *(int*)at[rank] == before && ranks > 1 && MP_TIMER() >= begun;
  if (!is_good) {
    fprintf(stderr, "process %d of %d got %d\n", rank, ranks, *(int*)at[rank]);
  }
  ARMCI_Free(at[rank]);
  free(at);
  ARMCI_Finalize();
  MP_FINALIZE();
  return is_good ? 0 : 1;
}
