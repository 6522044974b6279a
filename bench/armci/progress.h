// SPDX-License-Identifier: BSD-3-Clause
//
// Progress without the target's help, and while the origin does something else.
#pragma once

#include "bench/armci/bench.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What the target does meanwhile.
enum situation { in_receive, in_barrier, computing };

/// A get of 8 bytes.
void measure_get_while(struct bench* bench, const char* name, enum situation situation);
/// A put of 8 bytes with a fence.
void measure_put_fence_while(struct bench* bench, const char* name, enum situation situation);

/// A non-blocking get of max_bytes, with a computation as long as the blocking get. Measures
/// the total time (`name`), and the part of the get that the computation hid (`hidden_name`).
void measure_overlap(struct bench* bench, const char* name, const char* hidden_name);

#ifdef __cplusplus
}
#endif
