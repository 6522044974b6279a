// SPDX-License-Identifier: BSD-3-Clause
//
// Distribution: for each element of a distributed array, the rank that owns it and its location in
// that rank's memory.
//
// It has three parts: each axis is cut into blocks (BlockPartition1D), the blocks are assigned to
// ranks (BlockMap), and each rank stores its blocks in a Storage with a MemoryOrder, with ghost
// cells around them if requested.
//
//     regular        even partitions, one block on each rank;
//     irregular      partitions at bounds, one block on each rank;
//     block-cyclic   partitions by size, round robin, block by block;
//     ScaLAPACK      partitions by size, cyclic grid, local matrix, column-major;
//     tiled          partitions by size (or at bounds), cyclic grid, block by block;
//     restricted     even partitions, a table.
//
// Invariants: 1. every element has exactly one owner and one location there, and no two elements
// share a location; 2. the elements of one block have the constant strides of its Patch.
//
// Immutable, so any thread may query it; copies share their data. Two distributions are equal if
// they place every element at the same location, as far as a comparison of their parts can show.
//
// Cost: a query takes O(ndims), with irregular partitions O(ndims · log blocks). Memory is O(blocks
// along an axis) for irregular partitions, O(blocks) for a table or irregular blocks in round
// robin, else O(1).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "arrays/block_map.hpp"
#include "arrays/block_partition_1d.hpp"
#include "arrays/box.hpp"
#include "arrays/index.hpp"
#include "arrays/patch.hpp"
#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"

namespace tessera::arrays {

/// How a rank stores several blocks.
enum class Storage : std::uint8_t {
  block_by_block,  ///< each block contiguous, one after another
  local_matrix,    ///< all blocks as one dense array, as ScaLAPACK needs; grids only
};

/// How a distribution stores blocks.
struct StorageOptions {
  Storage storage = Storage::block_by_block;
  MemoryOrder order = MemoryOrder::row_major;
  /// Ghost cells at both ends of each dimension of a rank's block. They need at most one block on
  /// each rank. No dimensions: no ghost cells.
  Extents ghosts = {};
};

/// Options of regular().
struct RegularOptions {
  Extents min_block = {};  ///< minimum block length in elements (GA's chunk); 0 or empty: no limit
  Extents process_grid = {};  ///< positive entries are fixed, 0 or empty: chosen
  Extents ghosts = {};
  std::int64_t ranks_per_node = 0;  ///< keeps the ranks of a node together; 0: nodes don't matter
  MemoryOrder order = MemoryOrder::row_major;
};

/// The location of one element.
struct ElementLocation {
  rma::TeamRank owner;
  std::int64_t offset = 0;  ///< in elements from the start of the owner's slice
  friend bool operator==(const ElementLocation&, const ElementLocation&) = default;
};

class Distribution {
 public:
  class Blocks;

  /// Moving copies, so that a distribution that was moved from can still be queried.
  Distribution(const Distribution&) = default;
  Distribution& operator=(const Distribution&) = default;

  /// The distribution of an empty array: no dimensions and no ranks.
  static Distribution none() noexcept;

  /// One block for each rank, of sizes as equal as possible; process_grid.hpp says how the grid is
  /// chosen. The blocks of a process grid that is given in full are assigned to ranks in
  /// options.order. Errors: invalid_argument for bad extents or options.
  static rma::Result<Distribution> regular(const Extents& extents, std::int64_t nranks,
                                           const RegularOptions& options);
  static rma::Result<Distribution> regular(const Extents& extents, std::int64_t nranks) {
    return regular(extents, nranks, RegularOptions{});
  }
  /// One block for each rank; the blocks of dimension d begin at starts[d], see
  /// BlockPartition1D::at_bounds. Errors: invalid_argument for bad bounds, or more blocks than
  /// ranks.
  static rma::Result<Distribution> irregular(const Extents& extents,
                                             std::span<const std::vector<std::int64_t>> starts,
                                             std::int64_t nranks,
                                             const StorageOptions& options = {});
  /// Blocks of `block` elements along each dimension, assigned to ranks round robin (GA's
  /// block-cyclic arrays). Errors: invalid_argument for bad extents or block sizes.
  static rma::Result<Distribution> block_cyclic(const Extents& extents, const Extents& block,
                                                std::int64_t nranks,
                                                const StorageOptions& options = {});
  /// Blocks of `tile` elements on a grid of ranks that is repeated over them; each block is
  /// contiguous. Errors: also invalid_argument for a grid that doesn't fit the ranks.
  static rma::Result<Distribution> tiled(const Extents& extents, const Extents& tile,
                                         const Extents& grid, std::int64_t nranks,
                                         const StorageOptions& options = {});
  /// As tiled, with tiles of dimension d that begin at starts[d].
  static rma::Result<Distribution> tiled_irregular(
      const Extents& extents, std::span<const std::vector<std::int64_t>> starts,
      const Extents& grid, std::int64_t nranks, const StorageOptions& options = {});
  /// The layout of ScaLAPACK: blocks on a cyclic grid of ranks, with each rank's blocks as one
  /// dense local matrix. The element (0, 0) is on the rank at (0, 0) of the grid.
  ///
  /// ScaLAPACK's matrices are column-major. With that order (the default) the local matrix and grid
  /// are ScaLAPACK's own. A row-major array of m × n is, in the same memory, the column-major n × m
  /// matrix that is its transpose; its block sizes and grid are transposed too.
  static rma::Result<Distribution> scalapack(const Extents& extents, const Extents& block,
                                             const Extents& grid, std::int64_t nranks,
                                             MemoryOrder order = MemoryOrder::column_major);
  /// One block for each of `holders`, of sizes as equal as possible; the other ranks hold nothing
  /// (GA's restricted arrays). Block i of the regular distribution over that many ranks goes to
  /// holders[i]. Errors: invalid_argument if there are no holders, one is listed twice, or one is
  /// not a rank of the team.
  static rma::Result<Distribution> restricted(const Extents& extents,
                                              std::span<const rma::TeamRank> holders,
                                              std::int64_t nranks, const RegularOptions& options);
  static rma::Result<Distribution> restricted(const Extents& extents,
                                              std::span<const rma::TeamRank> holders,
                                              std::int64_t nranks) {
    return restricted(extents, holders, nranks, RegularOptions{});
  }
  /// The general form: a partition for each dimension, a block map and a storage. Errors:
  /// invalid_argument if the parts don't fit together or the sizes don't fit 63 bits; unsupported
  /// for ghosts with several blocks on a rank, or a local matrix without a grid; no_memory if there
  /// are too many irregular blocks to tabulate.
  static rma::Result<Distribution> create(std::span<const BlockPartition1D> partitions,
                                          const BlockMap& block_map,
                                          const StorageOptions& options = {});

  /// The same elements at the same locations of the same ranks' memory, with the dimensions and the
  /// order reversed: how Fortran sees an array of C, and ScaLAPACK a row-major one.
  [[nodiscard]] Distribution reversed() const;
  /// The number of dimensions.

  [[nodiscard]] int ndims() const noexcept { return extents().ndims(); }
  [[nodiscard]] const Extents& extents() const noexcept;
  [[nodiscard]] std::int64_t nranks() const noexcept { return block_map().nranks(); }
  [[nodiscard]] const BlockPartition1D& partition(int dim) const noexcept;
  [[nodiscard]] const BlockMap& block_map() const noexcept;
  /// block_by_block if no rank has two blocks.
  [[nodiscard]] Storage storage() const noexcept;
  [[nodiscard]] MemoryOrder order() const noexcept;
  /// Ghost widths; zeros if there are no ghost cells.
  [[nodiscard]] const Extents& ghosts() const noexcept;
  [[nodiscard]] bool has_ghosts() const noexcept;
  /// True if no rank owns more than one block.
  [[nodiscard]] bool is_one_block_per_rank() const noexcept {
    return block_map().is_one_block_per_rank();
  }

  /// The rank that owns the element. Requires: is_inside(index, extents()).
  [[nodiscard]] rma::TeamRank owner(const Index& index) const noexcept;
  /// The owner of an element, and the offset there. Requires: is_inside(index, extents()).
  [[nodiscard]] ElementLocation locate(const Index& index) const noexcept;

  /// The parts of `box`, block by block: `for (const Patch& patch : distribution.patches(box))`.
  /// The walk begins at patch number `rotation` modulo the number of patches, and wraps around. If
  /// each rank passes its own number, not all of them begin at the same owner. An empty box has no
  /// patches. Requires: is_inside(box, extents()), rotation ≥ 0. Cost: O(ndims) for each patch.
  [[nodiscard]] Patches patches(const Box& box, std::int64_t rotation = 0) const noexcept {
    return {*data_, box, rotation};
  }

  /// The number of blocks that a rank owns. Requires: 0 ≤ rank < nranks(), here and below.
  [[nodiscard]] std::int64_t block_count(rma::TeamRank rank) const noexcept {
    return block_map().count(rank);
  }
  /// One of a rank's blocks, without its ghost cells. Requires: 0 ≤ number < block_count(rank).
  [[nodiscard]] Patch block(rma::TeamRank rank, std::int64_t number) const noexcept;
  /// All blocks of a rank: `for (const Patch& block : distribution.blocks(rank))`. Requires: the
  /// distribution outlives the range.
  [[nodiscard]] Blocks blocks(rma::TeamRank rank) const noexcept;
  /// The box that a rank owns; [0,0) in each dimension if it owns nothing. Requires:
  /// is_one_block_per_rank().
  [[nodiscard]] Box box_of(rma::TeamRank rank) const noexcept;

  /// The number of elements in a rank's slice, with ghost cells and unused gaps between blocks.
  [[nodiscard]] std::int64_t local_elements(rma::TeamRank rank) const noexcept;
  /// An upper bound of local_elements() for all ranks; exact for grids.
  [[nodiscard]] std::int64_t max_local_elements() const noexcept;
  /// The extents of a rank's slice, with ghost cells; zeros if it is empty. The slice is dense in
  /// order(). Requires: is_one_block_per_rank() or storage() == local_matrix.
  [[nodiscard]] Extents local_extents(rma::TeamRank rank) const noexcept;

  friend bool operator==(const Distribution& a, const Distribution& b) noexcept;

  /// For this layer.
  [[nodiscard]] const detail::DistributionData& data() const noexcept { return *data_; }

 private:
  /// A tag: without it, {0}, which are extents, would also convert to a pointer to no data.
  struct Made {};
  Distribution(Made, std::shared_ptr<const detail::DistributionData> data) noexcept
      : data_(std::move(data)) {}

  std::shared_ptr<const detail::DistributionData> data_;
};

/// The blocks of one rank in their local order, as patches.
class Distribution::Blocks {
 public:
  class Iterator {
   public:
    using value_type = Patch;
    using difference_type = std::ptrdiff_t;
    Iterator(const Blocks* blocks, std::int64_t number) noexcept
        : blocks_(blocks), number_(number) {}
    Patch operator*() const noexcept {
      return blocks_->distribution_->block(blocks_->rank_, number_);
    }
    Iterator& operator++() noexcept {
      ++number_;
      return *this;
    }
    void operator++(int) noexcept { ++number_; }
    friend bool operator==(const Iterator& a, const Iterator& b) noexcept {
      return a.number_ == b.number_;
    }

   private:
    const Blocks* blocks_;
    std::int64_t number_;
  };

  Blocks(const Distribution& distribution, rma::TeamRank rank) noexcept
      : distribution_(&distribution), rank_(rank), count_(distribution.block_count(rank)) {}

  [[nodiscard]] std::int64_t size() const noexcept { return count_; }
  [[nodiscard]] Iterator begin() const noexcept { return {this, 0}; }
  [[nodiscard]] Iterator end() const noexcept { return {this, count_}; }

 private:
  const Distribution* distribution_;
  rma::TeamRank rank_;
  std::int64_t count_;
};

/// A 64-bit hash: equal distributions have the same one, in all processes; different ones have
/// different hashes, except by a very unlikely collision. Cost: O(blocks) for irregular partitions
/// and tables, else O(ndims).
std::uint64_t fingerprint(const Distribution& distribution) noexcept;

/// "1000 x 10: 4 x 1 blocks, at most one on each of 4 ranks, row-major".
std::string to_string(const Distribution& distribution);

}  // namespace tessera::arrays
