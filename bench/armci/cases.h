// SPDX-License-Identifier: BSD-3-Clause
//
// The list of cases. A name is `what/size`: put/8, get_strided/16x64 (64 rows of 16 B),
// acc_vector/1000, floor.memcpy/8. comparison.py knows which floor belongs to which case.
#pragma once

#include "bench/armci/bench.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Visits all cases in their order: those whose names match the options' patterns are measured, or,
/// with `lists`, named.
void run_cases(struct bench* bench);

#ifdef __cplusplus
}
#endif
