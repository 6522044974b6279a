// SPDX-License-Identifier: BSD-3-Clause
//
// Distribution: where each element of a distributed array lies: on which rank, and at which place
// of that rank's memory.
//
// It is composed: each axis is cut into blocks (AxisCut), the blocks are dealt to ranks (Deal), and
// each rank keeps its blocks in a Storage of a MemoryOrder, with ghost cells around them if asked
// for.
//
//     regular        even cuts, one block a rank
//     irregular      cuts at bounds, one block a rank
//     block-cyclic   cuts by size, round robin, block by block
//     ScaLAPACK      cuts by size, cyclic grid, local matrix, column-major
//     tiled          cuts by size (or at bounds), cyclic grid, block by block
//     restricted     even cuts, a table
//
// Invariants: 1. every element has exactly one owner and one place there, and no two share one;
// 2. elements of one block lie at the constant strides of its Patch.
//
// Immutable, so that any thread may ask; copies share their data. Two distributions are equal when
// they put every element at the same place, as far as their parts can tell.
//
// Cost: the queries are O(ndims), for irregular cuts O(ndims · log blocks); memory is O(blocks
// along an axis) for irregular cuts, O(blocks) for a table or irregular blocks dealt round robin,
// else O(1).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "arrays/axis_cut.hpp"
#include "arrays/box.hpp"
#include "arrays/deal.hpp"
#include "arrays/index.hpp"
#include "arrays/patch.hpp"
#include "rma/rank.hpp"
#include "rma/result.hpp"

namespace tessera::arrays {

/// How a rank keeps several blocks.
enum class Storage : std::uint8_t {
  block_by_block,  ///< each block contiguous, one after the other
  local_matrix,    ///< all of them as one dense array, as ScaLAPACK wants; grids only
};

struct StorageOptions {
  Storage storage = Storage::block_by_block;
  MemoryOrder order = MemoryOrder::row_major;
  /// Ghost cells at both ends of each dimension of a rank's block; at most one block a rank then.
  /// No dimensions: none.
  Extents ghosts = {};
};

struct RegularOptions {
  Extents min_block = {};     ///< blocks are at least so long (GA's chunk); 0 or none: no limit
  Extents process_grid = {};  ///< positive entries are fixed, 0 or none: chosen
  Extents ghosts = {};
  std::int64_t ranks_per_node = 0;  ///< keeps the ranks of a node together; 0: nothing to know
  MemoryOrder order = MemoryOrder::row_major;
};

/// Where one element lies.
struct ElementPlace {
  rma::TeamRank owner;
  std::int64_t offset = 0;  ///< in elements from the start of the owner's slice
  friend bool operator==(const ElementPlace&, const ElementPlace&) = default;
};

class Distribution {
 public:
  class Blocks;

  /// Moving is copying, so that what was moved from may still be asked.
  Distribution(const Distribution&) = default;
  Distribution& operator=(const Distribution&) = default;

  /// That of an array that was never made: no dimensions, and no ranks.
  static Distribution none() noexcept;

  /// One block for each rank, as even as possible; process_grid.hpp says how the grid is chosen.
  /// A process grid given in full is dealt in the plain order of options.order.
  /// Errors: invalid_argument for bad extents or options.
  static rma::Result<Distribution> regular(const Extents& extents, std::int64_t nranks,
                                           const RegularOptions& options);
  static rma::Result<Distribution> regular(const Extents& extents, std::int64_t nranks) {
    return regular(extents, nranks, RegularOptions{});
  }
  /// One block for each rank; the blocks of dimension d begin at starts[d], see
  /// AxisCut::at_bounds. Errors: invalid_argument for bad bounds, or more blocks than ranks.
  static rma::Result<Distribution> irregular(const Extents& extents,
                                             std::span<const std::vector<std::int64_t>> starts,
                                             std::int64_t nranks,
                                             const StorageOptions& options = {});
  /// Blocks of `block` elements along each dimension, dealt round robin (GA's block-cyclic arrays).
  /// Errors: invalid_argument for bad extents or block sizes.
  static rma::Result<Distribution> block_cyclic(const Extents& extents, const Extents& block,
                                                std::int64_t nranks,
                                                const StorageOptions& options = {});
  /// Blocks on a grid of ranks that is laid over them again and again; each block contiguous.
  /// Errors: also invalid_argument for a grid that doesn't fit the ranks.
  static rma::Result<Distribution> tiled(const Extents& extents, const Extents& tile,
                                         const Extents& grid, std::int64_t nranks,
                                         const StorageOptions& options = {});
  /// As tiled, with tiles of dimension d that begin at starts[d].
  static rma::Result<Distribution> tiled_irregular(
      const Extents& extents, std::span<const std::vector<std::int64_t>> starts,
      const Extents& grid, std::int64_t nranks, const StorageOptions& options = {});
  /// What ScaLAPACK works on: blocks on a cyclic grid, each rank's as one dense local matrix; the
  /// element (0, 0) is on the rank at (0, 0) of the grid.
  ///
  /// ScaLAPACK's matrices are column-major. With that order (the default) the local matrix and grid
  /// are ScaLAPACK's own. A row-major array of m × n is, in the same memory, the column-major
  /// matrix of n × m that is its transpose, with its block sizes and its grid transposed too.
  static rma::Result<Distribution> scalapack(const Extents& extents, const Extents& block,
                                             const Extents& grid, std::int64_t nranks,
                                             MemoryOrder order = MemoryOrder::column_major);
  /// One block for each of `holders`, as even as possible; the other ranks hold nothing (GA's
  /// restricted arrays). Block i of the regular distribution over as many ranks goes to holders[i].
  /// Errors: invalid_argument for no holder, one twice, or one that isn't a rank.
  static rma::Result<Distribution> restricted(const Extents& extents,
                                              std::span<const rma::TeamRank> holders,
                                              std::int64_t nranks, const RegularOptions& options);
  static rma::Result<Distribution> restricted(const Extents& extents,
                                              std::span<const rma::TeamRank> holders,
                                              std::int64_t nranks) {
    return restricted(extents, holders, nranks, RegularOptions{});
  }
  /// The general composition: a cut for each dimension, dealt and stored as told.
  /// Errors: invalid_argument when the parts don't fit together or the sizes don't fit 63 bits;
  /// unsupported for ghosts with several blocks a rank, or a local matrix without a grid;
  /// no_memory for more irregular blocks than can be tabulated.
  static rma::Result<Distribution> create(std::span<const AxisCut> cuts, const Deal& deal,
                                          const StorageOptions& options = {});

  /// The same elements at the same places of the same ranks' memory with the dimensions, and what
  /// order() says, the other way round: how Fortran sees an array of C, and ScaLAPACK a row-major
  /// one.
  [[nodiscard]] Distribution reversed() const;

  [[nodiscard]] int ndims() const noexcept { return extents().ndims(); }
  [[nodiscard]] const Extents& extents() const noexcept;
  [[nodiscard]] std::int64_t nranks() const noexcept { return deal().nranks(); }
  [[nodiscard]] const AxisCut& cut(int dim) const noexcept;
  [[nodiscard]] const Deal& deal() const noexcept;
  /// block_by_block whenever no rank has two blocks.
  [[nodiscard]] Storage storage() const noexcept;
  [[nodiscard]] MemoryOrder order() const noexcept;
  /// Ghost widths, zeros where there are none.
  [[nodiscard]] const Extents& ghosts() const noexcept;
  [[nodiscard]] bool has_ghosts() const noexcept;
  [[nodiscard]] bool is_one_block_per_rank() const noexcept {
    return deal().is_one_block_per_rank();
  }

  /// Requires: is_inside(index, extents()).
  [[nodiscard]] rma::TeamRank owner(const Index& index) const noexcept;
  /// Owner and place of one element. Requires: is_inside(index, extents()).
  [[nodiscard]] ElementPlace locate(const Index& index) const noexcept;

  /// The parts of `box` block by block: `for (const Patch& patch : distribution.patches(box))`.
  /// The walk begins at patch number `rotation` modulo their count, and wraps around, so that
  /// ranks which pass their own number don't all begin at the same owner. An empty box has no
  /// patches. Requires: is_inside(box, extents()), rotation ≥ 0. Cost: O(ndims) a patch.
  [[nodiscard]] Patches patches(const Box& box, std::int64_t rotation = 0) const noexcept {
    return {*data_, box, rotation};
  }

  /// How many blocks a rank has. Requires: 0 ≤ rank < nranks(), here and below.
  [[nodiscard]] std::int64_t block_count(rma::TeamRank rank) const noexcept {
    return deal().count(rank);
  }
  /// One of a rank's blocks, without its ghost cells. Requires: 0 ≤ number < block_count(rank).
  [[nodiscard]] Patch block(rma::TeamRank rank, std::int64_t number) const noexcept;
  /// All blocks of a rank: `for (const Patch& block : distribution.blocks(rank))`.
  /// Requires: the distribution outlives the range.
  [[nodiscard]] Blocks blocks(rma::TeamRank rank) const noexcept;
  /// What a rank owns; [0,0) in each dimension if nothing. Requires: is_one_block_per_rank().
  [[nodiscard]] Box box_of(rma::TeamRank rank) const noexcept;

  /// Elements in a rank's slice, ghost cells and unused gaps between blocks included.
  [[nodiscard]] std::int64_t local_elements(rma::TeamRank rank) const noexcept;
  /// No slice has more; exact for grids.
  [[nodiscard]] std::int64_t most_local_elements() const noexcept;
  /// The shape of a rank's slice, ghost cells included, zeros if it is empty; it is dense in
  /// order(). Requires: is_one_block_per_rank() or storage() == local_matrix.
  [[nodiscard]] Extents local_extents(rma::TeamRank rank) const noexcept;

  friend bool operator==(const Distribution& a, const Distribution& b) noexcept;

  /// For this layer.
  [[nodiscard]] const detail::DistributionData& data() const noexcept { return *data_; }

 private:
  /// Or {0}, which are extents, would be a pointer to no data as well.
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

/// 64 bits that equal distributions share and others do not, but by a most unlikely accident; the
/// same in all processes. Cost: O(blocks) for irregular cuts and tables, else O(ndims).
std::uint64_t fingerprint(const Distribution& distribution) noexcept;

/// "1000 x 10: 4 x 1 blocks, at most one on each of 4 ranks, row-major".
std::string to_string(const Distribution& distribution);

}  // namespace tessera::arrays
