/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Repeats one kind of small operation of Global Arrays' interface, for bench/instructions/count: a
 * patch of 4 x 4 of an array on one process; this process's number; a block of MA's stack, pushed
 * and popped.
 *
 *     ga_instruction_probe ga_get|ga_put|ga_acc|ga_nodeid|ma_push_pop COUNT
 */
#include <stdlib.h>
#include <string.h>

#include "ga.h"
#include "macdecls.h"

extern void ga_get_(Integer*, Integer*, Integer*, Integer*, Integer*, void*, Integer*);
extern void ga_put_(Integer*, Integer*, Integer*, Integer*, Integer*, void*, Integer*);
extern void ga_acc_(Integer*, Integer*, Integer*, Integer*, Integer*, void*, Integer*, void*);
extern Integer ga_nodeid_(void);
extern Integer ma_push_get_(const Integer*, const Integer*, const char*, Integer*, MA_AccessIndex*,
                            size_t);
extern Integer ma_pop_stack_(const Integer*);

enum { edge = 100, first = 11, side = 4 };

/* Returns whether there is such an operation. */
static int repeat(const char* operation, long count) {
  int dims[] = {edge, edge};
  Integer array = NGA_Create(C_DBL, 2, dims, "A", NULL);
  Integer lo = first;
  Integer hi = first + side - 1;
  Integer lead = side;
  double values[side * side] = {0};
  double one = 1;
  int is_known = 1;
  GA_Zero((int)array);
  if (strcmp(operation, "ga_get") == 0) {
    for (long i = 0; i < count; ++i) {
      ga_get_(&array, &lo, &hi, &lo, &hi, values, &lead);
    }
  } else if (strcmp(operation, "ga_put") == 0) {
    for (long i = 0; i < count; ++i) {
      ga_put_(&array, &lo, &hi, &lo, &hi, values, &lead);
    }
  } else if (strcmp(operation, "ga_acc") == 0) {
    for (long i = 0; i < count; ++i) {
      ga_acc_(&array, &lo, &hi, &lo, &hi, values, &lead, &one);
    }
  } else if (strcmp(operation, "ga_nodeid") == 0) {
    for (long i = 0; i < count; ++i) {
      is_known &= ga_nodeid_() == 0;
    }
  } else if (strcmp(operation, "ma_push_pop") == 0) {
    const Integer kind = MT_F_DBL;
    const Integer elements = edge;
    Integer handle = 0;
    MA_AccessIndex index = 0;
    for (long i = 0; i < count; ++i) {
      ma_push_get_(&kind, &elements, "block", &handle, &index, 5);
      ma_pop_stack_(&handle);
    }
  } else {
    is_known = 0;
  }
  GA_Destroy((int)array);
  return is_known;
}

int main(int argc, char** argv) {
  if (argc != 3) {
    return 2;
  }
  GA_Initialize();
  MA_init(C_DBL, 10000, 10000);
  const int is_known = repeat(argv[1], atol(argv[2]));
  GA_Terminate();
  return is_known ? 0 : 2;
}
