// SPDX-License-Identifier: BSD-3-Clause
//
// Boxes of a distributed matrix by global indices, compared with the strided calls of rma that move
// the same bytes with known addresses and shapes: the difference is the cost of arrays.
#pragma once

#include <vector>

#include "bench/session.hpp"

namespace tessera::bench {

/// Collective. Square boxes in one block of rank 1, and one that extends over all blocks.
void measure_patches(Session& session);

/// Boxes of three and four dimensions inside of one block, compared with the bare strided call, the
/// same bytes in one piece, and MPI's subarray types.
void measure_boxes(Session& session);

std::vector<Target> patch_targets();

}  // namespace tessera::bench
