// SPDX-License-Identifier: BSD-3-Clause
//
// choose_process_grid: the number of blocks along each dimension, if each rank gets one block.
//
// A grid p cuts dimension d of extent n[d] into p[d] even blocks. Among all allowed grids, these
// criteria choose, in this order:
//
//  1. It uses every rank. Grids of fewer ranks are considered only if no grid of all ranks is
//     allowed (7 ranks on a 4 x 4 array), or if `may_idle` is true.
//  2. Balance: its largest block has at most (1 + slack) times the elements of the smallest
//     largest block that any such grid has.
//  3. Surface: the area of the cuts, the sum over d of (p[d] − 1) · (volume / n[d]), is minimal.
//     This is what a halo exchange sends, and near-cubic blocks also suit patches. Grids with
//     different numbers of ranks are compared by area per rank times elements per rank.
//  4. Nodes: the area of those cuts that separate nodes is minimal, if a node's ranks fill a
//     compact sub-grid (`node_grid`).
//  5. More cuts across the slow dimensions, so that the runs in memory are long.
//
// A grid is allowed if no block is shorter than min_block (or 1) in a dimension that is cut, and if
// it has the entries that the caller fixed.
//
// Cost: all ordered factorisations of the number of ranks are searched, with bounds that exclude
// most of them. For 10⁵ ranks this takes less than a millisecond, or about ten if ranks must stay
// idle.
#pragma once

#include <cstdint>
#include <span>

#include "arrays/index.hpp"
#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"

namespace tessera::arrays {

struct ProcessGridOptions {
  /// Minimum block length in elements (GA's chunk). 0: no limit; the extent: the dimension is not
  /// cut. No dimensions: no limits.
  Extents min_block = {};
  /// Positive entries are fixed, 0 is chosen. No dimensions: all are chosen.
  Extents fixed = {};
  /// The number of consecutive ranks on one node; 0 or 1 if nodes don't matter.
  std::int64_t ranks_per_node = 0;
  /// Which dimension is the fastest in memory.
  MemoryOrder order = MemoryOrder::row_major;
  /// How much larger than the best balance the largest block may be, relative to it, in exchange
  /// for less surface.
  double slack = 0.1;
  /// Whether ranks may stay without a block to improve the balance.
  bool may_idle = false;
};

struct ProcessGrid {
  Extents grid;       ///< blocks along each dimension; at most as many as ranks
  Extents node_grid;  ///< the blocks of one node; no dimensions if nodes don't matter
};

/// The largest n for which each node has a multiple of n consecutive ranks, a value for
/// ranks_per_node. nodes[i] is the node of rank i.
[[nodiscard]] std::int64_t ranks_per_node(std::span<const rma::NodeId> nodes) noexcept;

/// Chooses a grid for `nranks` ranks. Deterministic: all ranks get the same one. Errors:
/// invalid_argument for bad extents, options with another number of dimensions, negative entries,
/// no ranks, or fixed entries whose product exceeds the number of ranks.
rma::Result<ProcessGrid> choose_process_grid(const Extents& extents, std::int64_t nranks,
                                             const ProcessGridOptions& options = {});

}  // namespace tessera::arrays
