// SPDX-License-Identifier: BSD-3-Clause
//
// The ghost exchange of periodic arrays with two and three dimensions, one to three layers, with
// and without corners, compared with the same exchange by messages.
#pragma once

#include "bench/session.hpp"

namespace tessera::bench {

void measure_ghosts(Session& session);

}  // namespace tessera::bench
