/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The texts, compared with what they were written to show.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ga/cases.h"

static void check_text(FILE* file, const char* expected) {
  static char text[4000];
  rewind(file);
  const size_t length = fread(text, 1, sizeof text - 1, file);
  text[length] = '\0';
  if (GA_Nodeid() == 0) {
    CHECK_EQUAL(strcmp(text, expected), 0);
    if (strcmp(text, expected) != 0) {
      fprintf(stderr, "printed:\n%s\nexpected:\n%s\n", text, expected);
    }
  } else {
    CHECK_EQUAL(length, 0);
  }
}

/* Rows and columns are those that Fortran sees. */
static void matrix(void) {
  int dims[] = {2, 3};
  int lo[] = {0, 0};
  int hi[] = {1, 2};
  int ld[] = {3};
  double values[] = {1, 2, 3, 4, 5, 123456};
  const int array = NGA_Create(C_DBL, 2, dims, "shown", NULL);
  GA_Zero(array);
  if (GA_Nodeid() == 0) {
    NGA_Put(array, lo, hi, values, ld);
  }
  GA_Sync();
  FILE* const file = tmpfile();
  GA_Print_file(file, array);
  check_text(file,
             "\n global array: shown[1:3,1:2],  handle: -1000 \n"
             "\n            1           2  \n       ----------- -----------\n"
             "   1       1.00000     4.00000\n"
             "   2       2.00000     5.00000\n"
             "   3       3.00000 1.23456e+05\n");
  fclose(file);
  GA_Destroy(array);
}

static void list(void) {
  int dims[] = {3};
  int lo[] = {0};
  int hi[] = {2};
  int values[] = {7, -8, 9};
  const int array = NGA_Create(C_INT, 1, dims, "listed", NULL);
  if (GA_Nodeid() == 0) {
    NGA_Put(array, lo, hi, values, lo);
  }
  GA_Sync();
  FILE* const file = tmpfile();
  GA_Print_file(file, array);
  check_text(file,
             "\n global array: listed[1:3],  handle: -1000 \n"
             "   1          7\n   2         -8\n   3          9\n");
  fclose(file);
  GA_Destroy(array);
}

const Case print_cases[] = {{"matrix", matrix}, {"list", list}, {NULL, NULL}};
