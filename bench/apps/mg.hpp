// SPDX-License-Identifier: BSD-3-Clause
//
// Suite "mg": the NAS Parallel Benchmark MG, as tessera-mg runs it, and the STREAM triad of as many
// ranks in alternation. MG is limited by memory, so what counts is how many operations it does for
// each byte that the triad moves.
#pragma once

#include <string>
#include <vector>

#include "bench/session.hpp"

namespace tessera::bench {

void measure_mg(Session& session);

/// What is wrong with a list of classes such as "A,B"; empty when nothing is.
std::string check_mg_classes(const std::string& classes);

/// Operations per byte that the design asks for, by class, on one and two ranks.
std::vector<Target> mg_targets();

}  // namespace tessera::bench
