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
void measure_memory_baseline(struct bench* bench, const char* name, const struct shape* shape);

enum word_baseline { baseline_add, baseline_swap, baseline_lock };
/// One lock xadd, one xchg, or the two atomic operations that a lock needs.
void measure_word_baseline(struct bench* bench, const char* name, enum word_baseline floor);

enum tcp_baseline { baseline_tcp_polling, baseline_tcp_blocking, baseline_tcp_stream };
/// A request with a reply of `bytes`, by two ends that poll or that sleep; or `bytes` in one
/// direction, with one reply at the end of a sample.
void measure_tcp_baseline(struct bench* bench, const char* name, enum tcp_baseline floor,
                          long bytes);

#ifdef __cplusplus
}
#endif
