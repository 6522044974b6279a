// SPDX-License-Identifier: BSD-3-Clause
//
// The macros of armci.h, which a compiler sees only where they are used.
#include <armci.h>
#include <message.h>

int use(int n) {
  char from[8] = {};
  char to[8] = {};
  dassert(1, n == 1);
  dassert1(1, n == 2, n);
  if (n == 3) {
    armci_die("three", n);
  }
  return ARMCI_Put1(from, to, n, 0);
}
