// SPDX-License-Identifier: BSD-3-Clause
//
// BlockMap: which rank of a team owns which block of a grid of blocks, and in which order a rank
// stores its blocks.
//
//     grid          6 ranks           cyclic_grid 2 x 2          round_robin, 3 ranks
//     0 1 2                           0 1 0 1                    0 1 2 0
//     3 4 5                           2 3 2 3                    1 2 0 1
//                                     0 1 0 1                    2 0 1 2
//
//     grid          at most one block on each rank: rank = linear index in the grid
//     cyclic_grid   a grid of ranks that is repeated over the blocks (ScaLAPACK)
//     round_robin   blocks in linear order to ranks 0, 1, …, n − 1, 0, 1, … (GA's block-cyclic)
//     table         an owner given for each block (GA's restricted arrays)
//
// A grid may keep the ranks of a node together: its blocks are then tiled with sub-grids of
// node_grid blocks, and a node's consecutive ranks fill one tile.
//
// The order says which coordinate varies fastest in three places: among the ranks of a grid, in the
// linear number of a block, and among the blocks of one rank. Ranks without blocks are legal in all
// kinds. A block map is an immutable value. A cyclic grid or round robin in which no rank has a
// second block is stored as a grid, so that equal block maps compare equal.
//
// Cost: O(ndims) for a query; O(log blocks) for count() and block() of a table. A table takes 20
// bytes for each block, which its copies share; the other kinds take O(1).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "arrays/fast_divider.hpp"
#include "arrays/index.hpp"
#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"

namespace tessera::arrays {

enum class BlockMapKind : std::uint8_t { grid, cyclic_grid, round_robin, table };

class BlockMap {
 public:
  /// No blocks on no ranks.
  BlockMap() noexcept = default;
  struct GridOptions {
    MemoryOrder order = MemoryOrder::row_major;
    /// Blocks of one node along each dimension; it must divide the grid. No dimensions: nodes don't
    /// matter.
    Extents node_grid = {};
  };

  /// At most one block on each rank. `blocks` has the number of blocks along each dimension; ranks
  /// beyond their product own none. Errors: invalid_argument for more blocks than ranks, or a node
  /// grid that doesn't divide the grid.
  static rma::Result<BlockMap> grid(const Extents& blocks, std::int64_t nranks,
                                    const GridOptions& options);
  static rma::Result<BlockMap> grid(const Extents& blocks, std::int64_t nranks) {
    return grid(blocks, nranks, GridOptions{});
  }
  /// A grid of ranks, repeated over the blocks. Errors: invalid_argument for a grid of more ranks
  /// than there are, or with an entry below 1.
  static rma::Result<BlockMap> cyclic_grid(const Extents& blocks, const Extents& grid,
                                           std::int64_t nranks,
                                           MemoryOrder order = MemoryOrder::row_major);
  /// Block k in linear order is owned by rank k mod nranks. Errors: invalid_argument for bad
  /// extents or no ranks.
  static rma::Result<BlockMap> round_robin(const Extents& blocks, std::int64_t nranks,
                                           MemoryOrder order = MemoryOrder::row_major);
  /// The owner of each block is given, in linear order. Errors: invalid_argument for a number of
  /// entries other than the number of blocks, or a rank outside 0 … nranks − 1.
  static rma::Result<BlockMap> table(const Extents& blocks, std::span<const rma::TeamRank> owners,
                                     std::int64_t nranks,
                                     MemoryOrder order = MemoryOrder::row_major);

  /// The same owners for the same blocks, with the dimensions in reverse order.
  [[nodiscard]] BlockMap reversed() const noexcept;

  [[nodiscard]] BlockMapKind kind() const noexcept { return kind_; }
  [[nodiscard]] int ndims() const noexcept { return blocks_.ndims(); }
  /// The number of blocks along each dimension.
  [[nodiscard]] const Extents& blocks() const noexcept { return blocks_; }
  /// The grid of ranks; for round robin and tables, the grid of blocks.
  [[nodiscard]] const Extents& rank_grid() const noexcept { return grid_; }
  /// The sub-grid of one node's ranks; no dimensions if the grid doesn't consider nodes.
  [[nodiscard]] const Extents& node_grid() const noexcept { return node_grid_; }
  [[nodiscard]] MemoryOrder order() const noexcept { return order_; }
  [[nodiscard]] std::int64_t nranks() const noexcept { return nranks_; }
  /// True if no rank owns more than one block.
  [[nodiscard]] bool is_one_block_per_rank() const noexcept { return max_blocks_ <= 1; }
  /// The largest count() of any rank.
  [[nodiscard]] std::int64_t max_blocks() const noexcept { return max_blocks_; }

  /// The rank that owns the block with these coordinates. Requires: they are within blocks().
  [[nodiscard]] rma::TeamRank owner(const Index& block) const noexcept {
    if (is_plain_grid()) {
      std::int64_t rank = 0;
      for (int dim = 0; dim < blocks_.ndims(); ++dim) {
        rank += block[dim] * rank_strides_[dim];
      }
      return {static_cast<std::int32_t>(rank)};
    }
    return owner_in_general(block);
  }
  /// True if owner() is the sum of block[dim] · rank_stride(dim).
  [[nodiscard]] bool is_plain_grid() const noexcept {
    return kind_ == BlockMapKind::grid && node_grid_.is_empty();
  }
  [[nodiscard]] std::int64_t rank_stride(int dim) const noexcept { return rank_strides_[dim]; }
  /// The index of the block among its owner's blocks, 0 … count(owner) − 1.
  [[nodiscard]] std::int64_t number(const Index& block) const noexcept;
  /// The index of the block among all blocks, in order().
  [[nodiscard]] std::int64_t linear(const Index& block) const noexcept {
    std::int64_t index = 0;
    for (int dim = 0; dim < blocks_.ndims(); ++dim) {
      index += block[dim] * block_strides_[dim];
    }
    return index;
  }

  /// The number of blocks that a rank owns. Requires: 0 ≤ rank < nranks().
  [[nodiscard]] std::int64_t count(rma::TeamRank rank) const noexcept;
  /// The coordinates of a rank's block with this number. Requires: 0 ≤ number < count(rank).
  [[nodiscard]] Index block(rma::TeamRank rank, std::int64_t number) const noexcept;
  /// The coordinates of a rank in rank_grid(). Requires: a grid or cyclic grid, and rank below its
  /// volume.
  [[nodiscard]] Index coordinates(rma::TeamRank rank) const noexcept;
  /// For one dimension of a (cyclic) grid: the coordinate of the ranks that own a block
  /// (remainder), and how many earlier blocks these ranks own (quotient).
  [[nodiscard]] FastDivider::Parts divide_by_grid(int dim, std::int64_t block) const noexcept {
    return by_grid_[static_cast<std::size_t>(dim)].divide(block);
  }
  /// The number of blocks of one dimension that the ranks at one coordinate of a (cyclic) grid own.
  [[nodiscard]] std::int64_t count_along(int dim, std::int64_t coordinate) const noexcept {
    const std::int64_t beyond = blocks_[dim] - coordinate - 1;
    return beyond < 0 ? 0 : divide_by_grid(dim, beyond).quotient + 1;
  }

  friend bool operator==(const BlockMap& a, const BlockMap& b) noexcept;

 private:
  struct Table {
    std::vector<rma::TeamRank> owners;   // the owner of each block, in linear order
    std::vector<std::int64_t> numbers;   // the block's index among its owner's blocks
    std::vector<std::int64_t> by_owner;  // all blocks, sorted by owner, then by linear order
  };

  BlockMap(BlockMapKind kind, const Extents& blocks, const Extents& grid, std::int64_t nranks,
           MemoryOrder order) noexcept;
  void set_node_grid(const Extents& node_grid) noexcept;
  [[nodiscard]] rma::TeamRank owner_in_general(const Index& block) const noexcept;
  [[nodiscard]] bool is_in_grid(rma::TeamRank rank) const noexcept;
  [[nodiscard]] std::span<const std::int64_t> table_blocks(rma::TeamRank rank) const noexcept;

  BlockMapKind kind_ = BlockMapKind::grid;
  MemoryOrder order_ = MemoryOrder::row_major;
  std::int64_t nranks_ = 0;
  std::int64_t max_blocks_ = 0;
  Extents blocks_;
  Extents grid_;
  Extents node_grid_;
  Strides block_strides_;                      // for the linear number
  Strides rank_strides_;                       // for ranks in the grid, or in a node's part of it
  Strides node_strides_;                       // for the first ranks of nodes
  std::array<FastDivider, max_dims> by_grid_;  // divide by grid_
  std::array<FastDivider, max_dims> by_node_;  // divide by node_grid_
  FastDivider by_nranks_;
  std::shared_ptr<const Table> table_;
};

/// "8 x 4 blocks on a grid of 2 x 2 ranks, cyclic".
std::string to_string(const BlockMap& block_map);

}  // namespace tessera::arrays
