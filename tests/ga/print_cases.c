/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The texts, compared with what they were written to show.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* What `print` writes to the standard output. */
static FILE* output_of(void (*print)(int), int array) {
  FILE* const file = tmpfile();
  fflush(stdout);
  const int kept = dup(STDOUT_FILENO);
  dup2(fileno(file), STDOUT_FILENO);
  print(array);
  fflush(stdout);
  dup2(kept, STDOUT_FILENO);
  close(kept);
  return file;
}

typedef struct {
  char text[4000];
  size_t length;
} Expected;

static void expect(Expected* all, const char* form, ...) {
  va_list values;
  va_start(values, form);
  all->length +=
      (size_t)vsnprintf(all->text + all->length, sizeof all->text - all->length, form, values);
  va_end(values);
}

/* The owners of all blocks, in the order of processes. */
static void cyclic_owners(void) {
  int dims[] = {4, 6};
  int block[] = {2, 3};
  static Expected all;
  const int count = GA_Nnodes();
  const int array = GA_Create_handle();
  GA_Set_data(array, 2, dims, C_DBL);
  GA_Set_array_name(array, "dealt");
  GA_Set_block_cyclic(array, block);
  GA_Allocate(array);
  all.length = 0;
  expect(&all, "Array Handle=-1000 Name:'dealt' Data Type:double\nArray Dimensions:4x6\n");
  expect(&all, "\nDistribution is block-cyclic\n\nTotal of 4 blocks on %d processors\n", count);
  for (int process = 0; process < count; ++process) {
    expect(&all, "Distribution on process %d\n", process);
    for (int number = process; number < 4; number += count) {
      const int row = 2 * (number / 2);
      const int column = 3 * (number % 2);
      expect(&all, "  Block=%d\t corresponds to array section: [%d:%d,%d:%d] \n", number, row,
             row + 1, column, column + 2);
    }
  }
  FILE* const file = output_of(GA_Print_distribution, array);
  check_text(file, all.text);
  fclose(file);
  GA_Destroy(array);
}

/* The same on a grid of processes, one below another. */
static void tile_owners(void) {
  int dims[] = {10, 4};
  int block[] = {2, 2};
  int grid[] = {GA_Nnodes(), 1};
  static Expected all;
  const int count = GA_Nnodes();
  const int array = GA_Create_handle();
  GA_Set_data(array, 2, dims, C_INT);
  GA_Set_array_name(array, "tiled");
  GA_Set_tiled_proc_grid(array, block, grid);
  GA_Allocate(array);
  all.length = 0;
  expect(&all, "Array Handle=-1000 Name:'tiled' Data Type:integer\nArray Dimensions:10x4\n");
  expect(&all, "\nDistribution is Tiled\n\nNumber of blocks in each dimension: [5,2]\n\n");
  expect(&all, "Processor grid dimensions: [%d,1]\n\n", count);
  for (int process = 0; process < count; ++process) {
    expect(&all, "Distribution on process %d\n", process);
    for (int row = process; row < 5; row += count) {
      for (int column = 0; column < 2; ++column) {
        expect(&all, " idx: %d Block=[%d,%d]\t corresponds to array section: [%d:%d,%d:%d] \n",
               2 * row + column, row, column, 2 * row, 2 * row + 1, 2 * column, 2 * column + 1);
      }
    }
  }
  FILE* const file = output_of(GA_Print_distribution, array);
  check_text(file, all.text);
  fclose(file);
  GA_Destroy(array);
}

const Case print_cases[] = {{"matrix", matrix},
                            {"list", list},
                            {"cyclic_owners", cyclic_owners},
                            {"tile_owners", tile_owners},
                            {NULL, NULL}};
