/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Repeated starts, and ends that others still need: the message layer holds the job (main.c), so
 * that ARMCI can end and start again.
 */
#include "rma/armci/message.h"
#include "tests/armci/cases.h"
#include "tests/armci/check.h"
#include "tests/armci/memory.h"

/* As a library does in a program that has started ARMCI itself. */
static void each_start_needs_an_end(void) {
  void** const at = shared_allocate(64);
  const int before = me();
  const int size = nproc();
  ((int*)at[me()])[0] = 17;
  ARMCI_Barrier();
  CHECK_EQUAL(ARMCI_Initialized(), 1);
  CHECK_OK(ARMCI_Init());
  CHECK_OK(ARMCI_Init_args(NULL, NULL));
  CHECK_OK(ARMCI_Init_thread(0));
  armci_msg_init(NULL, NULL);
  CHECK_EQUAL(ARMCI_Initialized(), 1);
  CHECK_EQUAL(me(), before);
  CHECK_EQUAL(nproc(), size);
  CHECK_OK(ARMCI_Finalize());
  CHECK_OK(ARMCI_Finalize());
  CHECK_OK(ARMCI_Finalize());
  CHECK_EQUAL(ARMCI_Initialized(), 1);
  CHECK_EQUAL(((int*)at[me()])[0], 17);
  CHECK_EQUAL(ARMCI_GetValueInt(at[neighbour(1)], neighbour(1)), 17);
  shared_free(at);
}

static void cleanup_leaves_everything(void) {
  void** const at = shared_allocate(64);
  ARMCI_Cleanup();
  CHECK_OK(ARMCI_PutValueInt(me(), at[neighbour(1)], neighbour(1)));
  ARMCI_Barrier();
  CHECK_EQUAL(((int*)at[me()])[0], neighbour(nproc() - 1));
  shared_free(at);
}

static void ending_before_the_messages_end(void) {
  CHECK_OK(ARMCI_Finalize());
  CHECK_EQUAL(ARMCI_Initialized(), 0);
  CHECK_OK(ARMCI_Finalize());
  CHECK_EQUAL(ARMCI_Initialized(), 0);
  int count = 1;
  armci_msg_igop(&count, 1, "+");
  CHECK_EQUAL(count, nproc());
  CHECK_OK(ARMCI_Init());
  CHECK_EQUAL(ARMCI_Initialized(), 1);
}

static void assertions_that_hold_print_nothing(void) {
  const int one = 1;
  dassert(1, one == 1);
  dassert(0, one == 2);
  dassert1(1, one == 1, one);
  dassertp(1, one == 1, ("%d is not one\n", one));
  dassertc(1, one == 1, ("%d is not one\n", one), one);
}

const Case start_cases[] = {
    {"each_start_needs_an_end", each_start_needs_an_end},
    {"cleanup_leaves_everything", cleanup_leaves_everything},
    {"ending_before_the_messages_end", ending_before_the_messages_end},
    {"assertions_that_hold_print_nothing", assertions_that_hold_print_nothing},
    {NULL, NULL}};
