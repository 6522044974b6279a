// SPDX-License-Identifier: BSD-3-Clause
//
// choose_process_grid: how many blocks along each dimension, when each rank gets one block.
//
// A grid p cuts dimension d of extent n[d] into p[d] even blocks. Of all grids that are allowed,
// the choice is made so:
//
//  1. It uses every rank. Only when no grid of all ranks is allowed (7 ranks on a 4 x 4 array),
//     or when `may_idle` says so, are grids of fewer ranks looked at.
//  2. Balance: its largest block has at most (1 + slack) times the elements of the smallest
//     largest block that any such grid has.
//  3. Surface: the area of the cuts, the sum over d of (p[d] − 1) · (volume / n[d]), is least.
//     This is what a halo exchange sends, and near-cubic blocks are good for patches as well.
//     Between different numbers of ranks, area a rank times elements a rank decides.
//  4. Nodes: the area of those cuts that separate nodes is least, when a node's ranks fill a
//     compact sub-grid (`node_grid`).
//  5. More cuts across the slow dimensions, so that the runs in memory are long.
//
// Allowed means: no block shorter than min_block (or 1) in a dimension that is cut, and the
// entries that the caller fixed.
//
// Cost: all ordered factorisations of the number of ranks are searched, with bounds that leave
// out most. For 10⁵ ranks: below a millisecond, some ten where ranks must stay idle.
#pragma once

#include <cstdint>
#include <span>

#include "arrays/index.hpp"
#include "rma/rank.hpp"
#include "rma/result.hpp"

namespace tessera::arrays {

struct ProcessGridOptions {
  /// Blocks are at least so long; 0 is no limit, the extent forbids cutting that dimension. No
  /// dimensions: no limits. (GA calls it chunk.)
  Extents min_block = {};
  /// Positive entries are taken as they are, 0 is free. No dimensions: all free.
  Extents fixed = {};
  /// Consecutive ranks of one node; 0 or 1 when there is nothing to know.
  std::int64_t ranks_per_node = 0;
  /// Which dimension is fast in memory.
  MemoryOrder order = MemoryOrder::row_major;
  /// How much larger than the best balance the largest block may be, in exchange for less surface.
  double slack = 0.1;
  /// Whether ranks may stay without a block for the sake of balance.
  bool may_idle = false;
};

struct ProcessGrid {
  Extents grid;       ///< blocks along each dimension; their product is ≤ the number of ranks
  Extents node_grid;  ///< the blocks of one node; no dimensions when nodes don't matter
};

/// The most consecutive ranks, counted from the first, that always share a node, from the node of
/// each; what ranks_per_node wants. The same wherever it is asked.
[[nodiscard]] std::int64_t ranks_per_node(std::span<const rma::NodeId> nodes) noexcept;

/// Errors: invalid_argument for bad extents, options of another number of dimensions, negative
/// entries, no ranks, or fixed entries whose product exceeds the ranks.
rma::Result<ProcessGrid> choose_process_grid(const Extents& extents, std::int64_t nranks,
                                             const ProcessGridOptions& options = {});

}  // namespace tessera::arrays
