// SPDX-License-Identifier: BSD-3-Clause
//
// Listed elements of a distributed matrix, gathered, scattered and accumulated by all ranks at
// once, compared with Global Arrays.
#pragma once

#include <vector>

#include "bench/session.hpp"

namespace tessera::bench {

/// Collective. Lists of 1000 to 10⁶ elements per rank, as far as -m allows, spread over the whole
/// matrix.
void measure_elements(Session& session);

std::vector<Target> element_targets();

}  // namespace tessera::bench
