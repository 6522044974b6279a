/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program of Global Arrays, outside of the tree.
 */
#include <stdio.h>

#include "armci.h"
#include "ga.h"
#include "macdecls.h"

int main(int argc, char** argv) {
  int dims[] = {5, 7};
  int lo[2];
  int hi[2];
  GA_Initialize_args(&argc, &argv);
  if (MA_init(C_DBL, 1000, 1000) == 0) {
    return 1;
  }
  const int array = NGA_Create(C_DBL, 2, dims, "shared", NULL);
  NGA_Distribution(array, GA_Nodeid(), lo, hi);
  int own = (hi[0] - lo[0] + 1) * (hi[1] - lo[1] + 1);
  GA_Igop(&own, 1, "+");
  ARMCI_Barrier();
  if (GA_Nodeid() == 0) {
    printf("%d processes hold %d elements\n", GA_Nnodes(), own);
  }
  GA_Destroy(array);
  GA_Terminate();
  return 0;
}
