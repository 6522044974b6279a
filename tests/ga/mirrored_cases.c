/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Arrays with a copy on each node, and properties.
 */
#include "tests/ga/cases.h"

enum { rows = 6, columns = 5 };

/* Each process adds its number + 1 to the copy on its node, in ghost cells' presence or not. */
static int new_copies(int has_ghosts) {
  int dims[] = {rows, columns};
  int width[] = {1, 2};
  int lo[] = {0, 0};
  int hi[] = {rows - 1, columns - 1};
  int ld[] = {columns};
  double values[rows * columns];
  double one = 1;
  const int mirror = GA_Pgroup_get_mirror();
  const int array = has_ghosts
                        ? NGA_Create_ghosts_config(C_DBL, 2, dims, width, "copies", NULL, mirror)
                        : NGA_Create_config(C_DBL, 2, dims, "copies", NULL, mirror);
  for (int i = 0; i < rows * columns; ++i) {
    values[i] = i * (GA_Nodeid() + 1);
  }
  NGA_Acc(array, lo, hi, values, ld, &one);
  GA_Sync();
  return array;
}

static double sum_of_all(void) {
  return GA_Nnodes() * (GA_Nnodes() + 1) / 2.0;
}

static void merge(void) {
  for (int has_ghosts = 0; has_ghosts < 2; ++has_ghosts) {
    static Model model;
    int dims[] = {rows, columns};
    const int array = new_copies(has_ghosts);
    CHECK_EQUAL(GA_Is_mirrored(array), GA_Cluster_nnodes() > 1);
    model_init(&model, 2, dims);
    double sum = 0;
    for (int process = 0; process < GA_Nnodes(); ++process) {
      sum += GA_Cluster_proc_nodeid(process) == GA_Cluster_nodeid() ? process + 1 : 0;
    }
    for (int i = 0; i < model.size; ++i) {
      model.values[i] = i * sum;
    }
    check_model(&model, array);
    GA_Sync();
    GA_Merge_mirrored(array);
    for (int i = 0; i < model.size; ++i) {
      model.values[i] = i * sum_of_all();
    }
    check_model(&model, array);
    GA_Sync();
    GA_Merge_mirrored(array);
    GA_Destroy(array);
  }
}

static void merge_patch(void) {
  static Model model;
  int dims[] = {8, 7};
  const int array = new_copies(0);
  const int target = NGA_Create(C_DBL, 2, dims, "target", NULL);
  int whole_lo[] = {0, 0};
  int whole_hi[] = {7, 6};
  int ld[] = {7};
  model_init(&model, 2, dims);
  for (int i = 0; i < model.size; ++i) {
    model.values[i] = -i;
  }
  if (GA_Nodeid() == 0) {
    NGA_Put(target, whole_lo, whole_hi, model.values, ld);
  }
  GA_Sync();
  int from_lo[] = {1, 0};
  int from_hi[] = {rows - 1, 3};
  int to_lo[] = {3, 2};
  int to_hi[] = {7, 5};
  NGA_Merge_distr_patch(array, from_lo, from_hi, target, to_lo, to_hi);
  for (int i = 0; i <= from_hi[0] - from_lo[0]; ++i) {
    for (int j = 0; j <= 3; ++j) {
      model.values[(3 + i) * 7 + 2 + j] = ((1 + i) * columns + j) * sum_of_all();
    }
  }
  check_model(&model, target);
  GA_Sync();
  GA_Destroy(target);
  GA_Destroy(array);
}

static void properties(void) {
  static char* const names[] = {"read_only", "read_cache"};
  for (int turn = 0; turn < 2; ++turn) {
    static Model model;
    int dims[] = {9, 8};
    int lo[] = {0, 0};
    int hi[] = {8, 7};
    int ld[] = {8};
    const int array = NGA_Create(C_DBL, 2, dims, "read", NULL);
    model_init(&model, 2, dims);
    for (int round = 0; round < 2; ++round) {
      for (int i = 0; i < model.size; ++i) {
        model.values[i] = 1000 * round + i;
      }
      if (GA_Nodeid() == 0) {
        NGA_Put(array, lo, hi, model.values, ld);
      }
      GA_Sync();
      if (round == 0) {
        GA_Set_property(array, names[turn]);
      } else {
        NGA_Set_property(array, names[turn]);
      }
      check_model(&model, array);
      check_model(&model, array);
      GA_Unset_property(array);
    }
    GA_Destroy(array);
  }
}

const Case mirrored_cases[] = {
    {"merge", merge}, {"merge_patch", merge_patch}, {"properties", properties}, {NULL, NULL}};
