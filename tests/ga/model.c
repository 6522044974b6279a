/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "tests/ga/cases.h"

void model_init(Model* model, int ndim, const int* dims) {
  memset(model, 0, sizeof *model);
  model->ndim = ndim;
  model->size = 1;
  for (int dim = 0; dim < ndim; ++dim) {
    model->dims[dim] = dims[dim];
    model->size *= dims[dim];
  }
}

int model_at(const Model* model, const int* index) {
  int at = 0;
  for (int dim = 0; dim < model->ndim; ++dim) {
    at = at * model->dims[dim] + index[dim];
  }
  return at;
}

int next_index(int ndim, const int* lo, const int* hi, int* index) {
  for (int dim = ndim - 1; dim >= 0; --dim) {
    if (++index[dim] <= hi[dim]) {
      return 1;
    }
    index[dim] = lo[dim];
  }
  return 0;
}

void check_model(const Model* model, int array) {
  static double values[max_model];
  int lo[GA_MAX_DIM] = {0};
  int hi[GA_MAX_DIM];
  int ld[GA_MAX_DIM];
  for (int dim = 0; dim < model->ndim; ++dim) {
    hi[dim] = model->dims[dim] - 1;
    ld[dim] = model->dims[dim < model->ndim - 1 ? dim + 1 : 0];
  }
  memset(values, 0xff, sizeof values);
  NGA_Get(array, lo, hi, values, ld);
  CHECK_BYTES(values, model->values, model->size * (int)sizeof(double));
}

static unsigned long long state;

void random_start(unsigned seed) {
  state = seed * 2654435761ULL + 1;
}

int random_below(int end) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (int)((state >> 33) % (unsigned)end);
}

void random_patch(const Model* model, int* lo, int* hi) {
  for (int dim = 0; dim < model->ndim; ++dim) {
    lo[dim] = random_below(model->dims[dim]);
    hi[dim] = lo[dim] + random_below(model->dims[dim] - lo[dim]);
  }
}

int local_shape(int ndim, const int* lo, const int* hi, int extra, int* ld) {
  int size = hi[0] - lo[0] + 1;
  for (int dim = 1; dim < ndim; ++dim) {
    ld[dim - 1] = hi[dim] - lo[dim] + 1 + extra;
    size *= ld[dim - 1];
  }
  return size;
}

int local_at(int ndim, const int* lo, const int* ld, const int* index) {
  int at = index[0] - lo[0];
  for (int dim = 1; dim < ndim; ++dim) {
    at = at * ld[dim - 1] + index[dim] - lo[dim];
  }
  return at;
}
