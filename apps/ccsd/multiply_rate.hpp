// SPDX-License-Identifier: BSD-3-Clause
//
// An upper limit for the rate of contractions: the rate of local matrix products, on all ranks at
// once.
#pragma once

#include <cstdint>

#include "rma/job.hpp"

namespace tessera::apps::ccsd {

/// Rows and columns of the matrices, large enough for the full rate.
inline constexpr std::int64_t multiply_rate_order = 1024;

/// Collective. Gflop/s of products of such matrices, summed over all ranks, which run at the same
/// time. Takes about a quarter of a second. Memory: three matrices on each rank during the call.
rma::Result<double> measure_multiply_rate(rma::Job& job);

}  // namespace tessera::apps::ccsd
