// SPDX-License-Identifier: BSD-3-Clause
//
// Part "arrays.modes", between nodes: patches all over a matrix that is only read, or only
// accumulated to, for a phase. Compares transfers to and from the owners with the copies and caches
// that access modes allow.
#pragma once

#include "bench/session.hpp"

namespace tessera::bench {

/// Collective. All ranks get, or accumulate to, patches of their own choice at once. Times include
/// the beginning and the end of the mode.
void measure_modes(Session& session);

}  // namespace tessera::bench
