// SPDX-License-Identifier: BSD-3-Clause
//
// The distributed matrix product, compared with simultaneous local products, one on each rank, and
// with ScaLAPACK's.
#pragma once

#include <vector>

#include "bench/session.hpp"

namespace tessera::bench {

/// Collective. For each edge of --edges: C = A B of square matrices, distributed in several ways.
void measure_gemm(Session& session);

std::vector<Target> gemm_targets();

}  // namespace tessera::bench
