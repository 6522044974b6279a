// SPDX-License-Identifier: BSD-3-Clause
#include "bench/armci/shape.h"

#include <string.h>

// Primes. The first makes an order that visits each row once if it doesn't divide the number of
// rows.
enum { scatter_step = 7919, values = 1021, salt_stride = 101 };

long local_offset(const struct shape* shape, long row) {
  return row * shape->stride;
}

long remote_offset(const struct shape* shape, long row) {
  const long place = shape->scattered ? row * scatter_step % shape->rows : row;
  return place * shape->stride;
}

long extent_of(const struct shape* shape) {
  return (shape->rows - 1) * shape->stride + shape->row_bytes;
}

static void add(char* to, const char* from, long bytes) {
  double* sums = (double*)(void*)to;
  const double* terms = (const double*)(const void*)from;
  for (long i = 0; i < bytes / (long)sizeof *sums; ++i) {
    sums[i] += terms[i];
  }
}

void apply_shape(const struct shape* shape, char* local, char* remote) {
  for (long row = 0; row < shape->rows; ++row) {
    char* here = local + local_offset(shape, row);
    char* there = remote + remote_offset(shape, row);
    if (shape->operation == operation_get) {
      memcpy(here, there, (size_t)shape->row_bytes);
    } else if (shape->operation == operation_put) {
      memcpy(there, here, (size_t)shape->row_bytes);
    } else {
      add(there, here, shape->row_bytes);
    }
  }
}

void fill(char* bytes, long count, int salt) {
  double* numbers = (double*)(void*)bytes;
  for (long i = 0; i < count / (long)sizeof *numbers; ++i) {
    numbers[i] = (double)((i * 7 + salt * salt_stride) % values);
  }
}
