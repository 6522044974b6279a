/* SPDX-License-Identifier: BSD-3-Clause
 *
 * GA's cut, where elements are, and grids.
 */
#include <string.h>

#include "tests/ga/cases.h"

/* Blocks of arrays on 4 processes, as Global Arrays 5.8 cuts them. */
typedef struct {
  int ndim;
  int dims[4];
  int chunk[4];
  int blocks[4];
  int second_start[4]; /* where the second block along each dimension begins */
} Cut;
static const Cut cuts_on_4[] = {
#include "tests/ga/cuts_on_4.inc"
};

static void cut(void) {
  if (GA_Nnodes() != 4) {
    skip("for 4 processes");
    return;
  }
  for (size_t i = 0; i < sizeof cuts_on_4 / sizeof *cuts_on_4; ++i) {
    const Cut* const wanted = &cuts_on_4[i];
    int blocks[4];
    int lo[4];
    int hi[4];
    const int array =
        NGA_Create(C_INT, wanted->ndim, (int*)wanted->dims, "cut", (int*)wanted->chunk);
    GA_Nblock(array, blocks);
    NGA_Distribution(array, 0, lo, hi);
    for (int dim = 0; dim < wanted->ndim; ++dim) {
      CHECK_EQUAL(blocks[dim], wanted->blocks[dim]);
      CHECK_EQUAL(hi[dim] + 1, wanted->second_start[dim]);
    }
    GA_Destroy(array);
  }
}

/* Pieces of a patch tile it, and each is where Locate says. */
static void regions(void) {
  int dims[] = {11, 13};
  int lo[] = {2, 3};
  int hi[] = {9, 11};
  int map[2 * 2 * 64];
  int owners[64];
  int elements = 0;
  const int array = NGA_Create(C_INT, 2, dims, "located", NULL);
  const int pieces = NGA_Locate_region(array, lo, hi, map, owners);
  CHECK_EQUAL(NGA_Locate_nnodes(array, lo, hi), pieces);
  for (int i = 0; i < pieces; ++i) {
    const int* const from = map + 4 * i;
    elements += (from[2] - from[0] + 1) * (from[3] - from[1] + 1);
    CHECK_EQUAL(NGA_Locate(array, (int*)from), owners[i]);
    CHECK_EQUAL(NGA_Locate(array, (int*)from + 2), owners[i]);
    CHECK(i == 0 || owners[i] > owners[i - 1]);
  }
  CHECK_EQUAL(elements, 8 * 9);
  int outside[] = {11, 0};
  CHECK_EQUAL(NGA_Locate(array, outside), -1);
  CHECK_EQUAL(GA_Total_blocks(array), -1);
  CHECK_EQUAL(NGA_Locate_num_blocks(array, lo, hi), -1);
  GA_Destroy(array);
}

/* Processes beyond the blocks have nothing. */
static void too_small(void) {
  int dims[] = {1, 1};
  int lo[2];
  int hi[2];
  int at[2];
  const int array = NGA_Create(C_INT, 2, dims, "small", NULL);
  NGA_Distribution(array, GA_Nodeid(), lo, hi);
  NGA_Proc_topology(array, GA_Nodeid(), at);
  if (GA_Nodeid() == 0) {
    CHECK_EQUAL(hi[0], 0);
    CHECK_EQUAL(at[0], 0);
  } else {
    CHECK_EQUAL(lo[0], -1);
    CHECK_EQUAL(hi[1], -2);
    CHECK_EQUAL(at[1], -1);
  }
  GA_Destroy(array);
}

static void tiles(void) {
  static Model model;
  int dims[] = {9, 8};
  int tile[] = {2, 3};
  int grid[] = {GA_Nnodes(), 1};
  int all[] = {8, 7};
  int zero[] = {0, 0};
  int ld[] = {8};
  int shown[2];
  model_init(&model, 2, dims);
  for (int i = 0; i < model.size; ++i) {
    model.values[i] = i + 0.5;
  }
  for (int kind = 0; kind < 2; ++kind) {
    const int array = GA_Create_handle();
    GA_Set_data(array, 2, dims, C_DBL);
    if (kind == 0) {
      GA_Set_tiled_proc_grid(array, tile, grid);
    } else {
      GA_Set_block_cyclic_proc_grid(array, tile, grid);
    }
    CHECK_EQUAL(GA_Allocate(array), 1);
    CHECK_EQUAL(GA_Uses_proc_grid(array), 1);
    CHECK_EQUAL(GA_Total_blocks(array), 15);
    GA_Get_proc_index(array, GA_Nodeid(), shown);
    CHECK_EQUAL(shown[0], GA_Nodeid());
    CHECK_EQUAL(shown[1], 0);
    if (GA_Nodeid() == 0) {
      NGA_Put(array, zero, all, model.values, ld);
    }
    GA_Sync();
    check_model(&model, array);
    GA_Sync();
    GA_Destroy(array);
  }
}

static void restricted(void) {
  int dims[] = {10};
  int list[] = {GA_Nnodes() - 1};
  int lo[1];
  int hi[1];
  const int array = GA_Create_handle();
  GA_Set_data(array, 1, dims, C_DBL);
  GA_Set_restricted(array, list, 1);
  CHECK_EQUAL(GA_Allocate(array), 1);
  NGA_Distribution(array, GA_Nnodes() - 1, lo, hi);
  CHECK_EQUAL(hi[0], 9);
  NGA_Distribution(array, 0, lo, hi);
  CHECK_EQUAL(hi[0], GA_Nnodes() == 1 ? 9 : -2);
  lo[0] = 4;
  CHECK_EQUAL(NGA_Locate(array, lo), GA_Nnodes() - 1);
  GA_Destroy(array);
}

const Case locality_cases[] = {
    {"cut", cut},     {"regions", regions},       {"too_small", too_small},
    {"tiles", tiles}, {"restricted", restricted}, {NULL, NULL}};
