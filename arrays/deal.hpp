// SPDX-License-Identifier: BSD-3-Clause
//
// Deal: which rank of a team gets which block of a grid of blocks, and in which order a rank keeps
// its blocks.
//
//     grid          6 ranks           cyclic_grid 2 x 2          round_robin, 3 ranks
//     0 1 2                           0 1 0 1                    0 1 2 0
//     3 4 5                           2 3 2 3                    1 2 0 1
//                                     0 1 0 1                    2 0 1 2
//
//     grid          at most one block a rank: rank = place in the grid
//     cyclic_grid   a grid of ranks laid over the blocks again and again (ScaLAPACK)
//     round_robin   blocks in linear order to ranks 0, 1, …, n − 1, 0, 1, … (GA's block-cyclic)
//     table         told for each block (GA's restricted arrays)
//
// A grid may keep the ranks of a node together: its blocks are then tiled with sub-grids of
// node_grid blocks, and a node's consecutive ranks fill one such tile.
//
// The order tells which coordinate varies fastest in the ranks of a grid, in the linear number of
// a block, and among the blocks of one rank. Ranks without blocks are legal everywhere. A deal is
// an immutable value; a cyclic grid or round robin that gives no rank a second block is kept as a
// grid, so that equal deals compare equal.
//
// Cost: O(ndims) a query; count() and block() of a table O(log blocks). A table keeps 20 bytes a
// block, shared by its copies; the others keep O(1).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "arrays/divider.hpp"
#include "arrays/index.hpp"
#include "rma/rank.hpp"
#include "rma/result.hpp"

namespace tessera::arrays {

enum class DealKind : std::uint8_t { grid, cyclic_grid, round_robin, table };

class Deal {
 public:
  /// Of no blocks to no ranks.
  Deal() noexcept = default;
  struct GridOptions {
    MemoryOrder order = MemoryOrder::row_major;
    /// Blocks of one node along each dimension; it must divide the grid. None: no nodes.
    Extents node_grid = {};
  };

  /// `blocks` are the numbers of blocks along each dimension; ranks beyond their product get none.
  /// Errors: invalid_argument for more blocks than ranks or a node grid that doesn't divide it.
  static rma::Result<Deal> grid(const Extents& blocks, std::int64_t nranks,
                                const GridOptions& options);
  static rma::Result<Deal> grid(const Extents& blocks, std::int64_t nranks) {
    return grid(blocks, nranks, GridOptions{});
  }
  /// Errors: invalid_argument for a grid of more ranks than there are, or with an entry below 1.
  static rma::Result<Deal> cyclic_grid(const Extents& blocks, const Extents& grid,
                                       std::int64_t nranks,
                                       MemoryOrder order = MemoryOrder::row_major);
  static rma::Result<Deal> round_robin(const Extents& blocks, std::int64_t nranks,
                                       MemoryOrder order = MemoryOrder::row_major);
  /// `owners` has an entry for each block, in linear order. Errors: invalid_argument for another
  /// number of entries or a rank outside 0 … nranks − 1.
  static rma::Result<Deal> table(const Extents& blocks, std::span<const rma::TeamRank> owners,
                                 std::int64_t nranks, MemoryOrder order = MemoryOrder::row_major);

  /// The same ranks for the same blocks with the dimensions the other way round.
  [[nodiscard]] Deal reversed() const noexcept;

  [[nodiscard]] DealKind kind() const noexcept { return kind_; }
  [[nodiscard]] int ndims() const noexcept { return blocks_.ndims(); }
  /// Numbers of blocks along each dimension.
  [[nodiscard]] const Extents& blocks() const noexcept { return blocks_; }
  /// The grid of ranks; that of the blocks for the kinds without one.
  [[nodiscard]] const Extents& rank_grid() const noexcept { return grid_; }
  /// The sub-grid of one node's ranks; no dimensions when the grid knows no nodes.
  [[nodiscard]] const Extents& node_grid() const noexcept { return node_grid_; }
  [[nodiscard]] MemoryOrder order() const noexcept { return order_; }
  [[nodiscard]] std::int64_t nranks() const noexcept { return nranks_; }
  [[nodiscard]] bool is_one_block_per_rank() const noexcept { return most_blocks_ <= 1; }
  /// The largest count() of any rank.
  [[nodiscard]] std::int64_t most_blocks() const noexcept { return most_blocks_; }

  /// The rank that has the block with these coordinates. Requires: they are within blocks().
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
  /// True for grids whose owner() is the sum of block[dim] · rank_stride(dim).
  [[nodiscard]] bool is_plain_grid() const noexcept {
    return kind_ == DealKind::grid && node_grid_.is_empty();
  }
  [[nodiscard]] std::int64_t rank_stride(int dim) const noexcept { return rank_strides_[dim]; }
  /// The place of the block among those of its owner, 0 … count(owner) − 1.
  [[nodiscard]] std::int64_t number(const Index& block) const noexcept;
  /// The place of the block among all blocks, in order().
  [[nodiscard]] std::int64_t linear(const Index& block) const noexcept {
    std::int64_t place = 0;
    for (int dim = 0; dim < blocks_.ndims(); ++dim) {
      place += block[dim] * block_strides_[dim];
    }
    return place;
  }

  /// How many blocks a rank has. Requires: 0 ≤ rank < nranks().
  [[nodiscard]] std::int64_t count(rma::TeamRank rank) const noexcept;
  /// The coordinates of a rank's block. Requires: 0 ≤ number < count(rank).
  [[nodiscard]] Index block(rma::TeamRank rank, std::int64_t number) const noexcept;
  /// A rank's place in rank_grid(). Requires: a grid or cyclic grid, and rank below its volume.
  [[nodiscard]] Index coordinates(rma::TeamRank rank) const noexcept;
  /// Along one dimension of a (cyclic) grid: the coordinate of the ranks that get a block
  /// (remainder), and how many blocks they got before it (quotient).
  [[nodiscard]] Divider::Parts turn(int dim, std::int64_t block) const noexcept {
    return by_grid_[static_cast<std::size_t>(dim)].divide(block);
  }
  /// How many of a dimension's blocks the ranks at one coordinate of a (cyclic) grid have.
  [[nodiscard]] std::int64_t count_along(int dim, std::int64_t coordinate) const noexcept {
    const std::int64_t beyond = blocks_[dim] - coordinate - 1;
    return beyond < 0 ? 0 : turn(dim, beyond).quotient + 1;
  }

  friend bool operator==(const Deal& a, const Deal& b) noexcept;

 private:
  struct Table {
    std::vector<rma::TeamRank> owners;   // of each block, in linear order
    std::vector<std::int64_t> numbers;   // its place among its owner's
    std::vector<std::int64_t> by_owner;  // all blocks, sorted by owner, then by linear order
  };

  Deal(DealKind kind, const Extents& blocks, const Extents& grid, std::int64_t nranks,
       MemoryOrder order) noexcept;
  void set_node_grid(const Extents& node_grid) noexcept;
  [[nodiscard]] rma::TeamRank owner_in_general(const Index& block) const noexcept;
  [[nodiscard]] bool is_in_grid(rma::TeamRank rank) const noexcept;
  [[nodiscard]] std::span<const std::int64_t> table_blocks(rma::TeamRank rank) const noexcept;

  DealKind kind_ = DealKind::grid;
  MemoryOrder order_ = MemoryOrder::row_major;
  std::int64_t nranks_ = 0;
  std::int64_t most_blocks_ = 0;
  Extents blocks_;
  Extents grid_;
  Extents node_grid_;
  Strides block_strides_;                  // of the linear number
  Strides rank_strides_;                   // of ranks in the grid, or in a node's part of it
  Strides node_strides_;                   // of the first ranks of nodes
  std::array<Divider, max_dims> by_grid_;  // by grid_
  std::array<Divider, max_dims> by_node_;  // by node_grid_
  Divider by_nranks_;
  std::shared_ptr<const Table> table_;
};

/// "8 x 4 blocks on a grid of 2 x 2 ranks, cyclic".
std::string to_string(const Deal& deal);

}  // namespace tessera::arrays
