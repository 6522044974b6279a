// SPDX-License-Identifier: BSD-3-Clause
//
// Atomics, mutexes, fences, barriers.
#pragma once

#include "bench/armci/bench.h"

#ifdef __cplusplus
extern "C" {
#endif

enum atomic { atomic_add_int, atomic_add_long, atomic_swap_int, atomic_swap_long, atomics };

void measure_atomic(struct bench* bench, const char* name, enum atomic atomic);
/// Lock and unlock of the target's mutex, without contention.
void measure_lock(struct bench* bench, const char* name);
/// A put of 8 bytes, each with a fence.
void measure_put_fence(struct bench* bench, const char* name);
/// ARMCI_Barrier of two ranks.
void measure_barrier(struct bench* bench, const char* name);

#ifdef __cplusplus
}
#endif
