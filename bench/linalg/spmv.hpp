// SPDX-License-Identifier: BSD-3-Clause
//
// y = A x with a sparse matrix over the ranks, beside the loop that each rank would do on its rows
// if it had all of x to itself, and beside STREAM's triad.
#pragma once

#include <vector>

#include "bench/session.hpp"

namespace tessera::bench {

void measure_spmv(Session& session);
std::vector<Target> spmv_targets();

}  // namespace tessera::bench
