// SPDX-License-Identifier: BSD-3-Clause
//
// Part "spmv.modes": products with sparse matrices between nodes, with the elements of other ranks
// read one by one, by aggregates, and as the library does by default, in alternation with the same
// product by MPI's messages where MPI runs; and what each rank spends communicating in them.
#pragma once

#include <vector>

#include "bench/session.hpp"

namespace tessera::bench {

void measure_spmv_modes(Session& session);
std::vector<Target> spmv_mode_targets();

}  // namespace tessera::bench
