// SPDX-License-Identifier: BSD-3-Clause
//
// Baselines: the time for the same bytes on this machine, without Tessera's or any other library.
#pragma once

#include "bench/armci/bench.h"
#include "bench/armci/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Rows between two mappings, one of them shared, by memcpy or (for accumulate) y[i] += x[i].
void measure_memory_floor(struct bench* bench, const char* name, const struct shape* shape);

enum word_floor { floor_add, floor_swap, floor_lock };
/// One lock xadd, one xchg, or the two atomic operations that a lock needs.
void measure_word_floor(struct bench* bench, const char* name, enum word_floor floor);

enum tcp_floor { floor_tcp_polling, floor_tcp_blocking, floor_tcp_stream };
/// A request with a reply of `bytes`, by two ends that poll or that sleep; or `bytes` in one
/// direction, with one reply at the end of a sample.
void measure_tcp_floor(struct bench* bench, const char* name, enum tcp_floor floor, long bytes);

#ifdef __cplusplus
}
#endif
