// SPDX-License-Identifier: BSD-3-Clause
//
// Random distributions of every kind, and a loop over the indices of a box, for tests of code that
// uses distributions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "arrays/distribution.hpp"

namespace tessera::arrays::kinds {

using Random = std::mt19937_64;

inline std::int64_t pick(Random& random, std::int64_t lo, std::int64_t hi) {
  return std::uniform_int_distribution<std::int64_t>(lo, hi)(random);
}

inline MemoryOrder pick_order(Random& random) {
  return pick(random, 0, 1) == 0 ? MemoryOrder::row_major : MemoryOrder::column_major;
}

/// Calls `body(index)` for each element, last index fastest.
template <class Body>
void for_each_index(const Box& box, Body body) {
  if (box.is_empty()) {
    return;
  }
  Index at = box.lo();
  while (true) {
    body(static_cast<const Index&>(at));
    int dim = box.ndims() - 1;
    for (; dim >= 0; --dim) {
      if (++at[dim] < box.hi(dim)) {
        break;
      }
      at[dim] = box.lo(dim);
    }
    if (dim < 0) {
      return;
    }
  }
}

inline BlockPartition1D pick_partition(Random& random, std::int64_t extent) {
  switch (pick(random, 0, 2)) {
    case 0:
      return *BlockPartition1D::even(extent, pick(random, 1, extent + 2));
    case 1:
      return *BlockPartition1D::by_size(extent, pick(random, 1, extent + 2));
    default:
      break;
  }
  std::vector<std::int64_t> starts = {0};
  for (std::int64_t i = 1; i < extent; ++i) {
    if (pick(random, 0, 2) == 0) {
      starts.push_back(i);
    }
  }
  return *BlockPartition1D::at_bounds(extent, starts);
}

inline Extents pick_extents(Random& random, int ndims, std::int64_t most) {
  Extents extents = Extents::zeros(ndims);
  for (int dim = 0; dim < ndims; ++dim) {
    extents[dim] = pick(random, 0, 40) == 0 ? 0 : pick(random, 1, most);
  }
  return extents;
}

inline Box pick_box(Random& random, const Extents& extents) {
  Box box = Box::none(extents.ndims());
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    const std::int64_t a = pick(random, 0, extents[dim]);
    const std::int64_t b = pick(random, 0, extents[dim]);
    box.set(dim, std::min(a, b), std::max(a, b));
  }
  return box;
}

/// A random block map of the blocks, on at most 8 ranks, or more if a grid needs them.
inline BlockMap pick_block_map(Random& random, const Extents& blocks) {
  const std::int64_t ranks = pick(random, 1, 8);
  const MemoryOrder order = pick_order(random);
  const int kind = static_cast<int>(pick(random, 0, 3));
  if (kind == 0) {
    return *BlockMap::round_robin(blocks, ranks, order);
  }
  if (kind == 1) {
    std::vector<rma::TeamRank> owners(static_cast<std::size_t>(volume(blocks)));
    for (auto& owner : owners) {
      owner.value = static_cast<std::int32_t>(pick(random, 0, ranks - 1));
    }
    return *BlockMap::table(blocks, owners, ranks, order);
  }
  if (kind == 2) {
    // Tiles of nodes if they divide the grid.
    Extents node_grid = blocks;
    for (int dim = 0; dim < blocks.ndims(); ++dim) {
      node_grid[dim] = blocks[dim] % 2 == 0 && blocks[dim] > 0 ? 2 : 1;
    }
    return *BlockMap::grid(blocks, volume(blocks) + ranks,
                           {.order = order, .node_grid = node_grid});
  }
  Extents grid = blocks;
  for (int dim = 0; dim < blocks.ndims(); ++dim) {
    grid[dim] = pick(random, 1, blocks.ndims() > 3 ? 2 : 3);
  }
  return *BlockMap::cyclic_grid(blocks, grid, volume(grid) + pick(random, 0, 2), order);
}

/// Any legal combination for these extents.
inline Distribution pick_distribution(Random& random, const Extents& extents) {
  std::vector<BlockPartition1D> partitions;
  Extents blocks = extents;
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    partitions.push_back(pick_partition(random, extents[dim]));
    blocks[dim] = partitions.back().blocks();
  }
  const BlockMap block_map = pick_block_map(random, blocks);
  StorageOptions options;
  options.order = pick_order(random);
  const bool has_grid =
      block_map.kind() == BlockMapKind::grid || block_map.kind() == BlockMapKind::cyclic_grid;
  if (has_grid && pick(random, 0, 1) == 1) {
    options.storage = Storage::local_matrix;
  }
  if (block_map.is_one_block_per_rank() && pick(random, 0, 1) == 1) {
    options.ghosts = Extents::zeros(extents.ndims());
    for (int dim = 0; dim < extents.ndims(); ++dim) {
      options.ghosts[dim] = pick(random, 0, 2);
    }
  }
  return Distribution::create(partitions, block_map, options).value();
}

/// The same over `ranks` ranks.
inline Distribution pick_distribution_over(Random& random, const Extents& extents,
                                           std::int64_t ranks) {
  while (true) {
    Distribution distribution = pick_distribution(random, extents);
    if (distribution.nranks() == ranks) {
      return distribution;
    }
  }
}

}  // namespace tessera::arrays::kinds
