// SPDX-License-Identifier: BSD-3-Clause
//
// Suite "mg": the NAS Parallel Benchmark MG, as tessera-mg runs it, alternating with the STREAM
// triad on the same number of ranks. MG is limited by memory. So the result is the number of
// operations that it does for each byte that the triad moves.
#pragma once

#include <string>
#include <vector>

#include "bench/session.hpp"

namespace tessera::bench {

void measure_mg(Session& session);

/// An error message for a list of classes such as "A,B"; empty if the list is right.
std::string check_mg_classes(const std::string& classes);

/// The design's limits for operations per byte, by class, on one and two ranks.
std::vector<Target> mg_targets();

}  // namespace tessera::bench
