// SPDX-License-Identifier: BSD-3-Clause
//
// The ghost exchange of a three-dimensional periodic array, one layer with corners, beside the same
// by messages.
#pragma once

#include "bench/session.hpp"

namespace tessera::bench {

void measure_ghosts(Session& session);

}  // namespace tessera::bench
