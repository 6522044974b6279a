// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. How a rank cuts its part of a matrix product into steps: a tile of C, and a panel of
// the indices that are summed over.
//
//          B  | k panel × columns |
//      A      |                   |
//      rows   |   tile of C:      |      for each tile, for each panel:
//      × k    |   rows × columns  |      tile += A(rows, panel) B(panel, columns)
//      panel
//
// Tiles are so small that panels fit the buffers, and cut where A's rows or B's columns change to
// other memory, so that panels may be used in place. The summed indices are taken owner by owner,
// those of this node first and then in turn from this rank on, so that not all ask the same rank:
// of a cyclic distribution that makes panels out of blocks that lie together in memory.
#pragma once

#include <cstdint>
#include <vector>

#include "linalg/detail/matrix_map.hpp"
#include "linalg/detail/own_parts.hpp"

namespace tessera::linalg::detail {

/// The factors of a product; a is m × k, b is k × n.
struct Factors {
  MatrixMap a;
  MatrixMap b;
};

/// The largest tile and panel.
struct StepSizes {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t inner = 0;
};

/// Sizes with which two panels of each factor have at most `elements` (but those of a few lines
/// where that is too little), and a tile twice as many if `has_scratch_tile`: each panel of A is
/// copied for every tile beside another, and of B for every one below another, so tiles should be
/// large.
StepSizes choose_step_sizes(const OwnPart& part, std::int64_t inner, std::int64_t elements,
                            bool has_scratch_tile);

/// A part cut into tiles of at most sizes.rows × sizes.columns.
std::vector<OwnPart> cut_into_tiles(const Factors& factors, const OwnPart& part,
                                    const StepSizes& sizes);

/// All k indices in panels for one tile; at most sizes.inner each where something is to be fetched.
/// Requires: the tile is not empty, and k > 0.
std::vector<IntervalList> inner_panels(const Factors& factors, const OwnPart& tile,
                                       const StepSizes& sizes);

}  // namespace tessera::linalg::detail
