// SPDX-License-Identifier: BSD-3-Clause
//
// The ghost exchange of periodic arrays of two and three dimensions, one to three layers, with
// corners and without, beside the same by messages.
#pragma once

#include "bench/session.hpp"

namespace tessera::bench {

void measure_ghosts(Session& session);

}  // namespace tessera::bench
