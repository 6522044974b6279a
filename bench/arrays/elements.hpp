// SPDX-License-Identifier: BSD-3-Clause
//
// Elements at listed places of a distributed matrix, gathered, scattered and added to by all ranks
// at once, beside Global Arrays.
#pragma once

#include <vector>

#include "bench/session.hpp"

namespace tessera::bench {

/// Collective. Lists of 1000 to 10⁶ places a rank, as far as -m allows, spread over the whole
/// matrix.
void measure_elements(Session& session);

std::vector<Target> element_targets();

}  // namespace tessera::bench
