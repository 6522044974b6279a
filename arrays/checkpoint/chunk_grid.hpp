// SPDX-License-Identifier: BSD-3-Clause
//
// ChunkGrid: the chunks of a data set, numbered in row-major order.
//
//     extents 5 x 7, chunk 2 x 4:     0 0 0 0 1 1 1
//                                     0 0 0 0 1 1 1
//                                     2 2 2 2 3 3 3       chunk 3 has the box [2,4) x [4,7);
//                                     2 2 2 2 3 3 3       in the file it has 2 x 4 elements
//                                     4 4 4 4 5 5 5
//
// ChunkRange: the chunks that a box of elements touches, numbered from 0.
#pragma once

#include <algorithm>
#include <cstdint>

#include "arrays/box.hpp"
#include "arrays/checkpoint/row_major_range.hpp"
#include "arrays/index.hpp"

namespace tessera::arrays::detail {

/// a / b, rounded up. Requires: b > 0.
constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) noexcept {
  return a / b + (a % b != 0 ? 1 : 0);
}

class ChunkGrid {
 public:
  /// Requires: as many lengths as extents, each positive.
  ChunkGrid(const Extents& extents, const Extents& chunk) noexcept
      : extents_(extents), chunk_(chunk), counts_(extents) {
    for (int dim = 0; dim < extents.ndims(); ++dim) {
      counts_[dim] = divide_up(extents[dim], chunk[dim]);
    }
  }

  [[nodiscard]] std::int64_t count() const noexcept { return volume(counts_); }
  [[nodiscard]] const Extents& counts() const noexcept { return counts_; }
  /// The elements of a chunk that are inside the extents.
  [[nodiscard]] Box box_of(std::int64_t number) const noexcept {
    const Index at = index_of_linear(counts_, number);
    Box box = Box::none(extents_.ndims());
    for (int dim = 0; dim < extents_.ndims(); ++dim) {
      const std::int64_t lo = at[dim] * chunk_[dim];
      box.set(dim, lo, std::min(lo + chunk_[dim], extents_[dim]));
    }
    return box;
  }
  /// The number of the chunk at this position of the grid.
  [[nodiscard]] std::int64_t number_at(const Index& position) const noexcept {
    std::int64_t number = 0;
    for (int dim = 0; dim < extents_.ndims(); ++dim) {
      number = number * counts_[dim] + position[dim];
    }
    return number;
  }
  /// The positions of the chunks that a box touches. Requires: the box is inside and not empty.
  [[nodiscard]] Box touched_by(const Box& box) const noexcept {
    Box positions = Box::none(extents_.ndims());
    for (int dim = 0; dim < extents_.ndims(); ++dim) {
      positions.set(dim, box.lo(dim) / chunk_[dim], divide_up(box.hi(dim), chunk_[dim]));
    }
    return positions;
  }

 private:
  Extents extents_;
  Extents chunk_;
  Extents counts_;
};

class ChunkRange {
 public:
  ChunkRange(const ChunkGrid& grid, const Box& box) noexcept
      : grid_(grid), positions_(grid.touched_by(box)) {}

  [[nodiscard]] std::int64_t count() const noexcept { return positions_.volume(); }
  /// The number in the grid of the i-th chunk of the range.
  [[nodiscard]] std::int64_t number(std::int64_t i) const noexcept {
    Index position = index_of_linear(positions_.extents(), i);
    for (int dim = 0; dim < positions_.ndims(); ++dim) {
      position[dim] += positions_.lo(dim);
    }
    return grid_.number_at(position);
  }

 private:
  ChunkGrid grid_;
  Box positions_;
};

}  // namespace tessera::arrays::detail
