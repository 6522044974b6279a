/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program that uses nothing but ARMCI: it starts with ARMCI_Init_args, and ends with
 * ARMCI_Finalize. Every launcher must see a normal end.
 */
#include <stdio.h>

#include "armci.h"

int main(int argc, char** argv) {
  if (ARMCI_Init_args(&argc, &argv) != 0) {
    return 1;
  }
  const int ranks = armci_msg_nproc();
  int sum = armci_msg_me();
  armci_msg_igop(&sum, 1, "+");
  ARMCI_Finalize();
  if (sum != ranks * (ranks - 1) / 2 || ranks < 2) {
    fprintf(stderr, "%d processes have the sum %d\n", ranks, sum);
    return 1;
  }
  return 0;
}
