// SPDX-License-Identifier: BSD-3-Clause
//
// The data of a transfer: rows of bytes, in order or scattered; and the plain loop that gives the
// expected result.
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
  long stride;     ///< distance of the rows, at both ends
  bool scattered;  ///< the rows have another order at the target
};

/// The distance of a row from the first byte.
long local_offset(const struct shape* shape, long row);
long remote_offset(const struct shape* shape, long row);

/// The bytes that a transfer spans at either end, gaps included.
long extent_of(const struct shape* shape);

/// The transfer as a plain loop.
void apply_shape(const struct shape* shape, char* local, char* remote);

/// Fills memory with small whole numbers, as doubles, that depend on the position and on `salt`.
void fill(char* bytes, long count, int salt);

#ifdef __cplusplus
}
#endif
