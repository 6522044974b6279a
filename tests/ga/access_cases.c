/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pointers to own blocks, and to those of cyclic arrays.
 */
#include "tests/ga/cases.h"

/* Each process writes its block by the pointer; all see the whole. */
static void own_block(void) {
  static Model model;
  int dims[] = {4, 6, 5};
  int lo[3];
  int hi[3];
  int ld[2];
  double* at = NULL;
  const int array = NGA_Create(C_DBL, 3, dims, "accessed", NULL);
  model_init(&model, 3, dims);
  for (int i = 0; i < model.size; ++i) {
    model.values[i] = i;
  }
  GA_Zero(array);
  NGA_Distribution(array, GA_Nodeid(), lo, hi);
  if (hi[0] >= lo[0]) {
    int index[3] = {lo[0], lo[1], lo[2]};
    NGA_Access(array, lo, hi, &at, ld);
    do {
      at[((index[0] - lo[0]) * ld[0] + index[1] - lo[1]) * ld[1] + index[2] - lo[2]] =
          model.values[model_at(&model, index)];
    } while (next_index(3, lo, hi, index));
    NGA_Release_update(array, lo, hi);
  }
  GA_Sync();
  check_model(&model, array);
  GA_Sync();
  GA_Destroy(array);
}

static void cyclic_blocks(void) {
  static Model model;
  int dims[] = {9, 10};
  int block[] = {2, 3};
  int counts[2];
  int lengths[2];
  const int array = GA_Create_handle();
  GA_Set_data(array, 2, dims, C_DBL);
  GA_Set_block_cyclic(array, block);
  CHECK_EQUAL(GA_Allocate(array), 1);
  CHECK_EQUAL(GA_Total_blocks(array), 20);
  GA_Get_block_info(array, counts, lengths);
  CHECK_EQUAL(counts[0], 5);
  CHECK_EQUAL(counts[1], 4);
  CHECK_EQUAL(lengths[1], 3);
  model_init(&model, 2, dims);
  for (int i = 0; i < model.size; ++i) {
    model.values[i] = i;
  }
  for (int number = GA_Nodeid(); number < 20; number += GA_Nnodes()) {
    int lo[2];
    int hi[2];
    int ld[1];
    double* at = NULL;
    NGA_Distribution(array, number, lo, hi);
    CHECK_EQUAL(NGA_Locate(array, hi), number);
    int index[2] = {lo[0], lo[1]};
    NGA_Access_block(array, number, &at, ld);
    do {
      at[(index[0] - lo[0]) * ld[0] + index[1] - lo[1]] = model.values[model_at(&model, index)];
    } while (next_index(2, lo, hi, index));
    NGA_Release_update_block(array, number);
  }
  GA_Sync();
  check_model(&model, array);
  GA_Sync();
  GA_Destroy(array);
}

/* Blocks are dealt to the listed processes only. */
static void cyclic_blocks_of_some(void) {
  int dims[] = {9, 10};
  int block[] = {2, 3};
  int list[] = {GA_Nnodes() - 1};
  const int array = GA_Create_handle();
  GA_Set_data(array, 2, dims, C_DBL);
  GA_Set_block_cyclic(array, block);
  GA_Set_restricted(array, list, 1);
  CHECK_EQUAL(GA_Allocate(array), 1);
  void* at = NULL;
  int length = -1;
  NGA_Access_block_segment(array, GA_Nodeid(), &at, &length);
  CHECK_EQUAL(length, GA_Nodeid() == list[0] ? 90 : 0);
  static Model model;
  model_init(&model, 2, dims);
  double two = 2;
  GA_Fill(array, &two);
  for (int i = 0; i < model.size; ++i) {
    model.values[i] = two;
  }
  check_model(&model, array);
  GA_Sync();
  GA_Destroy(array);
}

const Case access_cases[] = {{"own_block", own_block},
                             {"cyclic_blocks", cyclic_blocks},
                             {"cyclic_blocks_of_some", cyclic_blocks_of_some},
                             {NULL, NULL}};
