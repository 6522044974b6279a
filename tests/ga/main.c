/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: test_ga [--cases PATTERN] [--limit SECONDS]
 *
 * Runs the cases of GA's C interface whose names (SUITE.CASE) match the shell pattern, on all
 * processes of the job.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ga/cases.h"

static const Suite suites[] = {
    {"creation", creation_cases}, {"transfer", transfer_cases},   {"list", list_cases},
    {"group", group_cases},       {"access", access_cases},       {"locality", locality_cases},
    {"message", message_cases},   {"print", print_cases},         {"product", product_cases},
    {"solver", solver_cases},     {"eigen", eigen_cases},         {"ghost", ghost_cases},
    {"mirrored", mirrored_cases}, {"profiling", profiling_cases}, {NULL, NULL}};

/* An array that a session leaves has no effect on the next one. Returns whether that is so. */
static int starts_again(void) {
  int dims[] = {40};
  int array = NGA_Create(C_DBL, 1, dims, "one", NULL);
  GA_Assemble_duplicate(array, "left", GA_Getmem(C_DBL, 40, GA_Pgroup_get_world()));
  GA_Terminate();
  GA_Initialize();
  array = NGA_Create(C_DBL, 1, dims, "first", NULL);
  const int other = NGA_Create(C_DBL, 1, dims, "second", NULL);
  GA_Destroy(other);
  GA_Destroy(array);
  return GA_Initialized() != 0 && GA_Inquire_memory() == 0;
}

int main(int argc, char** argv) {
  const char* pattern = "*";
  unsigned limit = 100;
  for (int number = 1; number + 1 < argc; number += 2) {
    if (strcmp(argv[number], "--cases") == 0) {
      pattern = argv[number + 1];
    } else if (strcmp(argv[number], "--limit") == 0) {
      limit = (unsigned)strtoul(argv[number + 1], NULL, 10);
    } else {
      fprintf(stderr, "test_ga: there is no option %s\n", argv[number]);
      return 2;
    }
  }
  if (GA_Initialized() != 0) {
    fprintf(stderr, "test_ga: GA runs before it is initialized\n");
    return 1;
  }
  GA_Initialize_args(&argc, &argv);
  int failed = run_suites(suites, pattern, limit);
  const int left = (int)GA_Inquire_memory();
  if (left != 0) {
    fprintf(stderr, "test_ga: the cases leave %d bytes of arrays\n", left);
    failed = 1;
  }
  if (!starts_again()) {
    fprintf(stderr, "test_ga: a second session has something of the first\n");
    failed = 1;
  }
  GA_Terminate();
  if (GA_Initialized() != 0) {
    fprintf(stderr, "test_ga: GA_Terminate has not ended everything\n");
    failed = 1;
  }
  return failed != 0;
}
