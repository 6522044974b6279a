// SPDX-License-Identifier: BSD-3-Clause
//
// Boxes of a distributed matrix by global indices, beside the strided calls of rma that move the
// same bytes, whose addresses and shapes are known beforehand: what arrays add.
#pragma once

#include <vector>

#include "bench/session.hpp"

namespace tessera::bench {

/// Collective. Square boxes that lie in one block of rank 1, and one that lies in all blocks.
void measure_patches(Session& session);

/// Boxes of three and four dimensions inside of one block, beside the bare strided call, the same
/// bytes in one piece, and MPI's subarray types.
void measure_boxes(Session& session);

std::vector<Target> patch_targets();

}  // namespace tessera::bench
