// SPDX-License-Identifier: BSD-3-Clause
//
// Part "spmv.modes": products with sparse matrices between nodes. Elements of other ranks are read
// one by one, by aggregates, and by the library's default way. They alternate with the same product
// by MPI's messages, if MPI runs. The part also records each rank's communication time.
#pragma once

#include <vector>

#include "bench/session.hpp"

namespace tessera::bench {

void measure_spmv_modes(Session& session);
std::vector<Target> spmv_mode_targets();

}  // namespace tessera::bench
