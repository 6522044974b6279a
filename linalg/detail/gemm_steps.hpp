// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. The steps of a rank's part of a matrix product: each has a tile of C, and a panel of
// the indices that are summed over.
//
//          B  | k panel × columns |
//      A      |                   |
//      rows   |   tile of C:      |      for each tile, for each panel:
//      × k    |   rows × columns  |      tile += A(rows, panel) B(panel, columns)
//      panel
//
// Tiles are small enough that panels fit the buffers, and are cut where A's rows or B's columns
// continue in other memory, so that panels can be used in place. The summed indices are taken owner
// by owner, first those of this node, then the others starting after this rank, so that ranks begin
// with different owners. With a cyclic distribution that makes panels from blocks that are
// contiguous in memory.
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

/// Chooses sizes for which two panels of each factor have at most `elements` elements (or a few
/// lines, if that is too little), and a tile at most twice that if `has_scratch_tile`. Each panel
/// of A is copied for every tile in a row of tiles, and each panel of B for every tile in a column,
/// so tiles should be large.
StepSizes choose_step_sizes(const OwnPart& part, std::int64_t inner, std::int64_t elements,
                            bool has_scratch_tile);

/// Cuts a part into tiles of at most sizes.rows × sizes.columns.
std::vector<OwnPart> cut_into_tiles(const Factors& factors, const OwnPart& part,
                                    const StepSizes& sizes);

/// All k indices in panels for one tile, with at most sizes.inner indices each if something must be
/// fetched. Requires: the tile is not empty, and k > 0.
std::vector<IntervalList> inner_panels(const Factors& factors, const OwnPart& tile,
                                       const StepSizes& sizes);

}  // namespace tessera::linalg::detail
