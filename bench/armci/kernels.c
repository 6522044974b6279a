// SPDX-License-Identifier: BSD-3-Clause
#include "bench/armci/kernels.h"

#include <string.h>

void copy_rows(const struct rows* rows) {
  for (long row = 0; row < rows->count; ++row) {
    memcpy(rows->to + row * rows->stride, rows->from + row * rows->stride, (size_t)rows->bytes);
  }
}

void add_rows(const struct rows* rows) {
  const long doubles = rows->bytes / (long)sizeof(double);
  for (long row = 0; row < rows->count; ++row) {
    double* restrict sums = (double*)(void*)(rows->to + row * rows->stride);
    const double* restrict terms = (const double*)(const void*)(rows->from + row * rows->stride);
    for (long i = 0; i < doubles; ++i) {
      sums[i] += terms[i];
    }
  }
}

void copy_words(double* const* to, double* const* from, long count) {
  for (long i = 0; i < count; ++i) {
    *to[i] = *from[i];
  }
}

void add_words(double* const* to, double* const* from, long count) {
  for (long i = 0; i < count; ++i) {
    *to[i] += *from[i];
  }
}
