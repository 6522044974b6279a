/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gather, scatter and scatter-accumulate, from lists of pointers and from flat lists.
 */
#include "tests/ga/cases.h"

enum { listed = 12 };

static void lists(void) {
  static Model model;
  int dims[] = {6, 7};
  int places[listed][2];
  int64_t wide_places[listed][2];
  int* pointers[listed];
  double values[listed];
  double back[listed] = {0};
  const double alpha = 0.5;
  const int array = NGA_Create(C_DBL, 2, dims, "listed", NULL);
  model_init(&model, 2, dims);
  GA_Zero(array);
  for (int i = 0; i < listed; ++i) {
    places[i][0] = i * 5 % 6;
    places[i][1] = i * 3 % 7;
    wide_places[i][0] = places[i][0];
    wide_places[i][1] = places[i][1];
    pointers[i] = places[i];
    values[i] = 1 + i;
    model.values[model_at(&model, places[i])] = values[i];
  }
  if (GA_Nodeid() == 0) {
    NGA_Scatter(array, values, pointers, listed);
  }
  GA_Sync();
  check_model(&model, array);
  NGA_Gather(array, back, pointers, listed);
  CHECK_BYTES(back, values, sizeof back);
  NGA_Gather_flat64(array, back, &wide_places[0][0], listed);
  CHECK_BYTES(back, values, sizeof back);
  GA_Sync();
  NGA_Scatter_acc_flat(array, values, &places[0][0], listed, (void*)&alpha);
  for (int i = 0; i < listed; ++i) {
    model.values[model_at(&model, places[i])] += alpha * GA_Nnodes() * values[i];
  }
  GA_Sync();
  check_model(&model, array);
  GA_Destroy(array);
}

const Case list_cases[] = {{"lists", lists}, {NULL, NULL}};
