// SPDX-License-Identifier: BSD-3-Clause
//
// What a transfer moves: rows of bytes, in order or scattered, and the plain loop that says what
// must come of it.
#pragma once

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum operation { operation_put, operation_get, operation_accumulate, operations };

struct shape {
  enum operation operation;
  long rows;
  long row_bytes;  ///< a multiple of 8: all data are doubles
  long stride;     ///< of the rows, at both ends
  bool scattered;  ///< the rows come in another order at the target
};

/// How far a row lies behind the first byte.
long local_offset(const struct shape* shape, long row);
long remote_offset(const struct shape* shape, long row);

/// The bytes that a transfer reaches at either end, gaps included.
long extent_of(const struct shape* shape);

/// The transfer as a plain loop.
void apply_shape(const struct shape* shape, char* local, char* remote);

/// Fills memory with small whole numbers, as doubles, that differ by place and by `salt`.
void fill(char* bytes, long count, int salt);

#ifdef __cplusplus
}
#endif
