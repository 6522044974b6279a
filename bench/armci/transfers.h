// SPDX-License-Identifier: BSD-3-Clause
//
// The transfers: put, get, accumulate; contiguous, strided, by a list of addresses; non-blocking.
#pragma once

#include "bench/armci/bench.h"
#include "bench/armci/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

/// How rows are described to the library.
enum layout {
  layout_contiguous,
  layout_strided,    ///< a count array and stride arrays, one level
  layout_vector,     ///< one list of addresses
  layout_implicit,   ///< one non-blocking call without a handle per row, and one wait
  layout_aggregate,  ///< one non-blocking call per row with one aggregate handle, and one wait
  layouts
};

/// Checks the data of one transfer, then measures and reports it. A sample of puts or accumulates
/// ends with one fence, so that leaving bytes on the way gives no advantage.
void measure_transfer(struct bench* bench, const char* name, enum layout layout,
                      const struct shape* shape);

/// Sets the target's memory: `count` bytes of fill(). Complete there on return.
void set_remote(struct bench* bench, long count, int salt);
/// Gets the target's memory into `scratch`.
void read_remote(struct bench* bench, long count);

#ifdef __cplusplus
}
#endif
