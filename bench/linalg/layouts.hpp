// SPDX-License-Identifier: BSD-3-Clause
//
// Suite "layouts": matrices that are distributed otherwise, and transposed, beside ScaLAPACK's
// pdgemr2d and pdtran and a copy of as many bytes in each rank's own memory.
#pragma once

#include <cstdint>

#include "arrays/index.hpp"
#include "bench/session.hpp"

namespace tessera::bench {

/// One block a rank to blocks of 64 dealt in turn, and back.
void measure_redistribution(Session& session);
/// One block a rank to one block a rank.
void measure_transposition(Session& session);

/// The grid of as many ranks that is nearest to a square.
arrays::Extents square_grid(std::int64_t ranks);

}  // namespace tessera::bench
