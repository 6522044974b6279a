// SPDX-License-Identifier: BSD-3-Clause
//
// y = A x with a sparse matrix over the ranks, compared with the loop that each rank would run on
// its rows if it had all of x, and with STREAM's triad.
#pragma once

#include <vector>

#include "bench/session.hpp"

namespace tessera::bench {

void measure_spmv(Session& session);
std::vector<Target> spmv_targets();

}  // namespace tessera::bench
