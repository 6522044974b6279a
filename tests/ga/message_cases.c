/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums, maxima and broadcasts.
 */
#include <string.h>

#include "tests/ga/cases.h"

static void sums(void) {
  const int n = GA_Nnodes();
  const int me = GA_Nodeid();
  int numbers[] = {me, -me, me + 1};
  GA_Igop(numbers, 3, "+");
  CHECK_EQUAL(numbers[0], n * (n - 1) / 2);
  CHECK_EQUAL(numbers[1], -n * (n - 1) / 2);
  CHECK_EQUAL(numbers[2], n * (n + 1) / 2);
  double reals[] = {me - 1.5, me + 0.25};
  GA_Dgop(reals, 1, "absmax");
  CHECK_REAL(reals[0], n - 2.5 > 1.5 ? n - 2.5 : 1.5);
  CHECK_REAL(reals[1], me + 0.25);
  long product = 2;
  GA_Lgop(&product, 1, "*");
  CHECK_EQUAL(product, 1L << n);
  float least = (float)me;
  GA_Fgop(&least, 1, "min");
  CHECK_REAL(least, 0);
  DoubleComplex z = {1, -me};
  GA_Zgop(&z, 1, "+");
  CHECK_REAL(z.real, n);
  CHECK_REAL(z.imag, -n * (n - 1) / 2);
  long long any = me == n - 1;
  GA_Llgop(&any, 1, "or");
  CHECK_EQUAL(any, 1);
  /* Programs give the address of one character: what follows it is not the operator's. */
  int ones[] = {1};
  GA_Igop(ones, 1, "+\1?");
  CHECK_EQUAL(ones[0], n);
  GA_Gop(C_INT, numbers, 1, "max");
  CHECK_EQUAL(numbers[0], n * (n - 1) / 2);
}

static void broadcasts(void) {
  char text[20] = "";
  const int root = GA_Nnodes() - 1;
  if (GA_Nodeid() == root) {
    strcpy(text, "from the last");
  }
  GA_Brdcst(text, sizeof text, root);
  CHECK_EQUAL(strcmp(text, "from the last"), 0);
}

const Case message_cases[] = {{"sums", sums}, {"broadcasts", broadcasts}, {NULL, NULL}};
