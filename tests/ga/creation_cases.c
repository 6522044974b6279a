/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Handles, names, creation in one step and in several, limits.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/ga/cases.h"

/* The lowest free handle is used, from -1000 on. */
static void handles(void) {
  int dims[] = {5};
  const int first = NGA_Create(C_INT, 1, dims, "first", NULL);
  const int second = NGA_Create(C_INT, 1, dims, "second", NULL);
  CHECK_EQUAL(first, -1000);
  CHECK_EQUAL(second, -999);
  CHECK_EQUAL(GA_Valid_handle(first), 1);
  GA_Destroy(first);
  CHECK_EQUAL(GA_Valid_handle(first), 0);
  const int third = NGA_Create(C_INT, 1, dims, "third", NULL);
  CHECK_EQUAL(third, -1000);
  CHECK_EQUAL(GA_Verify_handle(0), 0);
  GA_Destroy(second);
  GA_Destroy(third);
}

static void names(void) {
  int dims[] = {5, 7};
  int type = 0;
  int ndim = 0;
  int shape[GA_MAX_DIM];
  const int codes[] = {C_INT, C_LONG, C_LONGLONG, C_FLOAT, C_DBL, C_SCPL, C_DCPL, C_CHAR};
  for (int i = 0; i < 8; ++i) {
    const int array = NGA_Create(codes[i], 2, dims, "a name of more than thirty characters", NULL);
    const char* const name = GA_Inquire_name(array);
    CHECK_EQUAL(strcmp(name, "a name of more than thirty cha"), 0);
    NGA_Inquire(array, &type, &ndim, shape);
    CHECK_EQUAL(type, codes[i]);
    CHECK_EQUAL(ndim, 2);
    CHECK_EQUAL(shape[0], 5);
    CHECK_EQUAL(shape[1], 7);
    CHECK_EQUAL(GA_Ndim(array), 2);
    CHECK(name == GA_Inquire_name(array));
    GA_Destroy(array);
  }
}

static void in_steps(void) {
  int dims[] = {12, 8};
  int chunk[] = {6, -1};
  int lo[2];
  int hi[2];
  const int array = GA_Create_handle();
  CHECK_EQUAL(GA_Valid_handle(array), 0);
  GA_Set_data(array, 2, dims, C_DBL);
  GA_Set_chunk(array, chunk);
  GA_Set_array_name(array, "in steps");
  CHECK_EQUAL(GA_Allocate(array), 1);
  NGA_Distribution(array, 0, lo, hi);
  CHECK(hi[0] - lo[0] + 1 >= 6);
  GA_Zero(array);
  CHECK_EQUAL(GA_Deallocate(array), 1);
  CHECK_EQUAL(GA_Valid_handle(array), 0);
  CHECK_EQUAL(GA_Allocate(array), 1);
  GA_Destroy(array);
}

static void duplicates(void) {
  int dims[] = {9, 4};
  int chunk[] = {4, 4};
  const int array = NGA_Create(C_FLOAT, 2, dims, "one", chunk);
  const int copy = GA_Duplicate(array, "other");
  CHECK_EQUAL(GA_Compare_distr(array, copy), 0);
  CHECK_EQUAL(strcmp(GA_Inquire_name(copy), "other"), 0);
  dims[0] = 8;
  const int other = NGA_Create(C_FLOAT, 2, dims, "third", chunk);
  CHECK_EQUAL(GA_Compare_distr(array, other), 1);
  GA_Destroy(other);
  GA_Destroy(copy);
  GA_Destroy(array);
}

/* Equal entries of a map make empty blocks. */
static void irregular(void) {
  static Model model;
  int dims[] = {7, 5};
  int block[] = {GA_Nnodes(), 1};
  int map[GA_MAX_DIM + 64];
  int lo[2];
  int hi[2];
  for (int i = 0; i < GA_Nnodes(); ++i) {
    map[i] = i == 0 ? 0 : 3;
  }
  map[GA_Nnodes()] = 0; /* the second dimension is one block */
  const int array = NGA_Create_irreg(C_DBL, 2, dims, "irregular", block, map);
  NGA_Distribution(array, GA_Nodeid(), lo, hi);
  const int is_first = GA_Nodeid() == 0;
  const int is_last = GA_Nodeid() == GA_Nnodes() - 1;
  if (GA_Nnodes() == 1) {
    CHECK_EQUAL(hi[0] - lo[0], 6);
  } else if (is_first || is_last) {
    CHECK_EQUAL(lo[0], is_first ? 0 : 3);
    CHECK_EQUAL(hi[0], is_first ? 2 : 6);
    CHECK_EQUAL(hi[1], 4);
  } else {
    CHECK_EQUAL(lo[0], -1);
    CHECK_EQUAL(hi[0], -2);
  }
  model_init(&model, 2, dims);
  GA_Zero(array);
  for (int i = 0; i < model.size; ++i) {
    model.values[i] = i;
  }
  int all_lo[] = {0, 0};
  int all_hi[] = {6, 4};
  int ld[] = {5};
  if (is_last) {
    NGA_Put(array, all_lo, all_hi, model.values, ld);
  }
  GA_Sync();
  check_model(&model, array);
  GA_Destroy(array);
}

static void limit(void) {
  int dims[] = {1000};
  CHECK_EQUAL(GA_Memory_limited(), 0);
  GA_Set_memory_limit(100);
  CHECK_EQUAL(GA_Memory_limited(), 1);
  CHECK_EQUAL(GA_Memory_avail(), 100);
  CHECK_EQUAL(NGA_Create(C_DBL, 1, dims, "too long", NULL), GA_Nnodes() > 80 ? -1000 : 0);
  GA_Set_memory_limit(8000);
  const int array = NGA_Create(C_DBL, 1, dims, "fits", NULL);
  CHECK_EQUAL(array, -1000);
  CHECK_EQUAL(GA_Inquire_memory() + GA_Memory_avail(), 8000);
  GA_Destroy(array);
  GA_Set_memory_limit((size_t)-1);
  CHECK_EQUAL(GA_Memory_limited(), 0);
}

static void from_memory(void) {
  int dims[] = {40};
  const int array = NGA_Create(C_DBL, 1, dims, "one", NULL);
  double* const memory = GA_Getmem(C_DBL, 40, GA_Pgroup_get_world());
  CHECK(memory != NULL);
  const int other = GA_Assemble_duplicate(array, "assembled", memory);
  GA_Zero(other);
  if (GA_Nodeid() == 0) {
    const double seven = 7;
    int at[] = {0};
    NGA_Put(other, at, at, (void*)&seven, at);
    CHECK_REAL(memory[0], 7);
  }
  GA_Sync();
  GA_Destroy(other);
  GA_Destroy(array);
  double* const freed = GA_Getmem(C_DBL, 4, GA_Pgroup_get_world());
  GA_Freemem(freed);
}

/* The first block, as GA cuts the array, or with the least surface. */
static void surface(void) {
  static const int of_ga[][2] = {{100, 10}, {100, 5}, {34, 10}, {50, 5}};
  static const int of_surface[][2] = {{100, 10}, {50, 10}, {34, 10}, {25, 10}};
  const char* const grid = getenv("TESSERA_GA_GRID");
  const int is_surface = grid != NULL && strcmp(grid, "surface") == 0;
  const int* const expected = (is_surface ? of_surface : of_ga)[GA_Nnodes() - 1];
  int dims[] = {100, 10};
  int lo[2];
  int hi[2];
  const int array = NGA_Create(C_DBL, 2, dims, "cut", NULL);
  NGA_Distribution(array, 0, lo, hi);
  for (int dim = 0; dim < 2; ++dim) {
    CHECK_EQUAL(lo[dim], 0);
    CHECK_EQUAL(hi[dim], expected[dim] - 1);
  }
  static Model model;
  model_init(&model, 2, dims);
  GA_Zero(array);
  check_model(&model, array);
  GA_Destroy(array);
}

const Case creation_cases[] = {
    {"handles", handles},         {"names", names},         {"in_steps", in_steps},
    {"duplicates", duplicates},   {"irregular", irregular}, {"limit", limit},
    {"from_memory", from_memory}, {"surface", surface},     {NULL, NULL}};
