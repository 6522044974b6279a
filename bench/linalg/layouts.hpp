// SPDX-License-Identifier: BSD-3-Clause
//
// Suite "layouts": matrices that are redistributed and transposed, compared with ScaLAPACK's
// pdgemr2d and pdtran and with a copy of the same number of bytes in each rank's own memory.
#pragma once

#include <cstdint>

#include "arrays/index.hpp"
#include "bench/session.hpp"

namespace tessera::bench {

/// One block per rank to blocks of 64 dealt cyclically, and back.
void measure_redistribution(Session& session);
/// One block per rank to one block per rank.
void measure_transposition(Session& session);

/// The nearly square grid for this number of ranks.
arrays::Extents square_grid(std::int64_t ranks);

}  // namespace tessera::bench
