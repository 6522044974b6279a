// SPDX-License-Identifier: BSD-3-Clause
//
// Part "arrays.modes", between nodes: patches all over a matrix that is only read, or only added
// to, for a while; where they belong, and by the copies and caches that access modes allow.
#pragma once

#include "bench/session.hpp"

namespace tessera::bench {

/// Collective. All ranks get, and add to, patches of their own choice at once. Times have the
/// beginning and the end of the mode in them.
void measure_modes(Session& session);

}  // namespace tessera::bench
