// SPDX-License-Identifier: BSD-3-Clause
//
// The data that copies of a Distribution share, and the computation of a block's location in its
// owner's slice. Patches and Distribution both use locate_block().
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "arrays/distribution.hpp"

namespace tessera::arrays::detail {

struct DistributionData {
  DistributionData(const BlockMap& given_map, Storage stored)
      : block_map(given_map), storage(stored) {}

  Extents extents;
  std::array<BlockPartition1D, max_dims> partitions;
  BlockMap block_map;
  Storage storage;
  MemoryOrder order = MemoryOrder::row_major;
  bool is_one_block_per_rank = true;
  Extents ghosts;
  std::int64_t max_local_elements = 0;

  /// For cyclic grids with irregular partitions: a table of length_before() for each block.
  std::array<std::vector<std::int64_t>, max_dims> before;
  /// For round robin and tables: the number of elements between the starts of a rank's consecutive
  /// blocks.
  std::int64_t slot = 0;
  /// If the sizes of blocks differ much: the start of each block, in linear order.
  std::vector<std::int64_t> starts;

  [[nodiscard]] const BlockPartition1D& partition(int dim) const noexcept {
    return partitions[static_cast<std::size_t>(dim)];
  }
  /// The k-th fastest dimension in `in_order`.
  [[nodiscard]] int fast(int k, MemoryOrder in_order) const noexcept {
    return in_order == MemoryOrder::row_major ? extents.ndims() - 1 - k : k;
  }
  /// The total length of the owner's earlier blocks along `dim`. For cyclic grids.
  [[nodiscard]] std::int64_t length_before(int dim, std::int64_t block) const noexcept {
    const auto& table = before[static_cast<std::size_t>(dim)];
    if (!table.empty()) {
      return table[static_cast<std::size_t>(block)];
    }
    const FastDivider::Parts at = block_map.divide_by_grid(dim, block);
    return partition(dim).length_of(at.remainder, block_map.rank_grid()[dim], at.quotient);
  }
  /// The total length along `dim` of all blocks of the ranks at a grid coordinate. For cyclic
  /// grids.
  [[nodiscard]] std::int64_t length_of_all(int dim, std::int64_t coordinate) const noexcept {
    const std::int64_t count = block_map.count_along(dim, coordinate);
    const std::int64_t step = block_map.rank_grid()[dim];
    if (before[static_cast<std::size_t>(dim)].empty() || count == 0) {
      return partition(dim).length_of(coordinate, step, count);
    }
    const std::int64_t last = coordinate + (count - 1) * step;
    return length_before(dim, last) + partition(dim).length(last);
  }
};

/// Sets the members that follow from the parts: max_local_elements and the tables. Errors:
/// invalid_argument if sizes do not fit 63 bits, no_memory for the tables.
rma::Status measure(DistributionData& data);

/// Sets `strides` to those of a block in its owner's slice, and returns the offset of its first
/// element there. Both are in elements.
std::int64_t locate_block(const DistributionData& data, const Index& block,
                          Strides& strides) noexcept;

}  // namespace tessera::arrays::detail
