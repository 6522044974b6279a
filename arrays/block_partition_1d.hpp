// SPDX-License-Identifier: BSD-3-Clause
//
// BlockPartition1D: one axis of an array, the indices 0 … extent − 1, cut into consecutive blocks.
//
//     even(10, 4)              |0 1 2|3 4 5|6 7|8 9|      sizes differ by at most one
//     by_size(10, 4)           |0 1 2 3|4 5 6 7|8 9|      the last may be shorter
//     at_bounds(10, {0, 1, 7}) |0|1 2 3 4 5 6|7 8 9|      blocks begin at the bounds
//
// All index algebra of distributions is here, in one dimension. Only even() can make empty blocks
// (if extent < blocks); they come last. A partition is immutable. Two partitions are equal if their
// blocks are, regardless of how they were made: bounds that happen to be even or of one size are
// stored as such, and are as fast.
//
// Cost: every query is O(1), except find() for irregular bounds, which is O(log blocks). Copies of
// a partition share its bounds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "arrays/fast_divider.hpp"
#include "rma/base/result.hpp"

namespace tessera::arrays {

class BlockPartition1D {
 public:
  /// An axis of extent 0 with one block.
  BlockPartition1D() noexcept = default;

  /// An axis of `blocks` blocks whose sizes differ by at most one, the longer ones first. Errors:
  /// invalid_argument for extent < 0 or blocks < 1.
  static rma::Result<BlockPartition1D> even(std::int64_t extent, std::int64_t blocks);
  /// Blocks of `size` elements; the last one is shorter if `size` doesn't divide `extent`. No
  /// blocks if the extent is 0. Errors: invalid_argument for extent < 0 or size < 1.
  static rma::Result<BlockPartition1D> by_size(std::int64_t extent, std::int64_t size);
  /// Blocks that begin at `starts` and end where the next one begins; the end of the last is
  /// `extent`. Errors: invalid_argument unless starts[0] is 0 and the others increase strictly and
  /// are below `extent`. The message shows the offending entries.
  static rma::Result<BlockPartition1D> at_bounds(std::int64_t extent,
                                                 std::span<const std::int64_t> starts);

  /// The number of indices.
  [[nodiscard]] std::int64_t extent() const noexcept { return extent_; }
  /// The number of blocks.
  [[nodiscard]] std::int64_t blocks() const noexcept { return blocks_; }
  /// The size of the largest block; 0 if there are no blocks.
  [[nodiscard]] std::int64_t largest() const noexcept { return largest_; }
  /// True if the bounds are arbitrary: neither even nor of one size.
  [[nodiscard]] bool is_irregular() const noexcept { return starts_ != nullptr; }

  /// The block of an index, and the index within that block.
  struct Position {
    std::int64_t block = 0;
    std::int64_t offset = 0;  ///< index within the block
    friend bool operator==(const Position&, const Position&) = default;
  };
  /// The block that has an index, and where in it. Requires: 0 ≤ index < extent().
  [[nodiscard]] Position find(std::int64_t index) const noexcept {
    if (starts_) {
      return find_irregular(index);
    }
    if (index < longer_end_) {
      const FastDivider::Parts parts = by_longer_.divide(index);
      return {parts.quotient, parts.remainder};
    }
    const FastDivider::Parts parts = by_size_.divide(index - longer_end_);
    return {longer_ + parts.quotient, parts.remainder};
  }

  /// The result of find_run(): as that of find(), with the length of the block.
  struct Run {
    std::int64_t block = 0;
    std::int64_t offset = 0;  ///< index within the block
    std::int64_t length = 0;
  };
  /// As find(), with the length of the block. Requires: 0 ≤ index < extent().
  [[nodiscard]] Run find_run(std::int64_t index) const noexcept {
    if (starts_) [[unlikely]] {
      const Position found = find_irregular(index);
      return {found.block, found.offset, length(found.block)};
    }
    if (index < longer_end_) {
      const FastDivider::Parts parts = by_longer_.divide(index);
      return {parts.quotient, parts.remainder, size_ + 1};
    }
    const FastDivider::Parts parts = by_size_.divide(index - longer_end_);
    const std::int64_t block = longer_ + parts.quotient;
    return {block, parts.remainder, block + 1 == blocks_ ? size_ - missing_ : size_};
  }

  /// Block `block` is the range [lo(block), hi(block)). Requires: 0 ≤ block < blocks().
  [[nodiscard]] std::int64_t lo(std::int64_t block) const noexcept {
    return starts_ ? (*starts_)[static_cast<std::size_t>(block)]
                   : block * size_ + std::min(block, longer_);
  }
  [[nodiscard]] std::int64_t hi(std::int64_t block) const noexcept {
    return block + 1 == blocks_ ? extent_ : lo(block + 1);
  }
  /// The number of indices in a block. Requires: 0 ≤ block < blocks().
  [[nodiscard]] std::int64_t length(std::int64_t block) const noexcept {
    return hi(block) - lo(block);
  }

  /// The total length of the `count` blocks first, first + step, first + 2 step, …: what a rank
  /// owns along this axis if it has every step-th block. Requires: these blocks exist, and step ≥
  /// 1. Cost: O(count) for irregular bounds, else O(1).
  [[nodiscard]] std::int64_t length_of(std::int64_t first, std::int64_t step,
                                       std::int64_t count) const noexcept {
    if (starts_ || longer_ > 0) {
      return length_of_unlike(first, step, count);
    }
    const bool has_last = count > 0 && first + (count - 1) * step == blocks_ - 1;
    return count * size_ - (has_last ? missing_ : 0);
  }

  friend bool operator==(const BlockPartition1D& a, const BlockPartition1D& b) noexcept;

 private:
  // `longer` blocks of size + 1, then blocks of `size`, the last cut off at `extent`.
  BlockPartition1D(std::int64_t extent, std::int64_t blocks, std::int64_t size,
                   std::int64_t longer) noexcept;
  BlockPartition1D(std::int64_t extent, std::vector<std::int64_t> starts);
  [[nodiscard]] std::int64_t length_of_unlike(std::int64_t first, std::int64_t step,
                                              std::int64_t count) const noexcept;
  [[nodiscard]] Position find_irregular(std::int64_t index) const noexcept;
  [[nodiscard]] bool begins_at(std::span<const std::int64_t> starts) const noexcept;

  std::int64_t extent_ = 0;
  std::int64_t blocks_ = 1;
  std::int64_t largest_ = 0;
  std::int64_t size_ = 0;
  std::int64_t longer_ = 0;
  std::int64_t longer_end_ = 0;  // longer_ * (size_ + 1)
  std::int64_t missing_ = 0;     // by how much the last block is shorter than size_
  FastDivider by_longer_;        // by size_ + 1
  FastDivider by_size_;
  std::shared_ptr<const std::vector<std::int64_t>> starts_;  // null unless irregular
};

/// "extent 10 in 4 blocks of 2 to 3".
std::string to_string(const BlockPartition1D& partition);

}  // namespace tessera::arrays
