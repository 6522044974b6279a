/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: test_ga_misuse CASE
 *
 * One mistake of a program, which the library has to answer by ending the job.
 */
#include <stdio.h>
#include <string.h>

#include "ga.h"
#include "macdecls.h"

static int is_case(char** argv, const char* name) {
  return strcmp(argv[1], name) == 0;
}

static void misuse(char** argv, int array) {
  int dims[] = {5, 6};
  int lo[] = {0, 0};
  int hi[] = {1, 2};
  int ld[] = {3};
  double values[100] = {0};
  if (is_case(argv, "handle")) {
    NGA_Get(-5, lo, hi, values, ld);
  } else if (is_case(argv, "destroyed")) {
    GA_Destroy(array);
    GA_Destroy(array);
  } else if (is_case(argv, "unallocated")) {
    const int handle = GA_Create_handle();
    GA_Set_data(handle, 2, dims, C_DBL);
    NGA_Put(handle, lo, hi, values, ld);
  } else if (is_case(argv, "patch")) {
    lo[0] = 3;
    hi[0] = 9;
    hi[1] = 1;
    NGA_Put(array, lo, hi, values, ld);
  } else if (is_case(argv, "lead")) {
    ld[0] = 2;
    NGA_Get(array, lo, hi, values, ld);
  } else if (is_case(argv, "type")) {
    NGA_Create(99, 2, dims, "B", NULL);
  } else if (is_case(argv, "group")) {
    GA_Pgroup_sync(77);
  } else if (is_case(argv, "mutex")) {
    GA_Lock(0);
  } else if (is_case(argv, "map")) {
    int block[] = {2, 1};
    int map[] = {0, 9, 0};
    NGA_Create_irreg(C_DBL, 2, dims, "B", block, map);
  } else if (is_case(argv, "operator")) {
    int one = 1;
    GA_Igop(&one, 1, "average");
  } else if (is_case(argv, "error") && GA_Nodeid() == 1) {
    GA_Error("given up", 7);
  }
  GA_Sync();
}

int main(int argc, char** argv) {
  int dims[] = {5, 6};
  if (argc < 2) {
    return 2;
  }
  if (is_case(argv, "before")) {
    NGA_Create(C_DBL, 2, dims, "A", NULL);
  }
  GA_Initialize();
  misuse(argv, NGA_Create(C_DBL, 2, dims, "A", NULL));
  printf("not reached\n");
  return 0;
}
