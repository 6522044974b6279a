// SPDX-License-Identifier: BSD-3-Clause
//
// The list of cases. A name is `what/size`: put/8, get_strided/16x64 (64 rows of 16 B),
// acc_vector/1000, floor.memcpy/8. comparison.py has the baseline of each case.
#pragma once

#include "bench/armci/bench.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Visits all cases in order. Measures those whose names match the options' patterns or, with
/// `lists`, prints their names.
void run_cases(struct bench* bench);

#ifdef __cplusplus
}
#endif
