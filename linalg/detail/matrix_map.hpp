// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. MatrixMap: a distributed matrix as a part of an array, without the type of its
// elements, to locate its elements. Transposing swaps two numbers.
//
// A line is a row or a column of the matrix. If blocks are distributed on a grid, one line along
// each axis gives the location of all elements: a rank owns its rows times its columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "arrays/array_base.hpp"
#include "linalg/detail/interval_list.hpp"

namespace tessera::linalg::detail {

enum class Axis : std::uint8_t { rows, columns };

struct MatrixMap {
  arrays::ArrayBase* array = nullptr;
  arrays::Box box;
  int row_dim = 0;
  int column_dim = 1;

  [[nodiscard]] std::int64_t rows() const noexcept { return box.extent(row_dim); }
  [[nodiscard]] std::int64_t columns() const noexcept { return box.extent(column_dim); }
  [[nodiscard]] MatrixMap transposed() const noexcept { return {array, box, column_dim, row_dim}; }
  /// The box of some rows and columns.
  [[nodiscard]] arrays::Box part(const Interval& in_rows,
                                 const Interval& in_columns) const noexcept;
  /// True if elements of a row are closer together in the owner's memory than those of a column.
  [[nodiscard]] bool is_row_major() const noexcept;
};

/// The elements of a line that are in one block.
struct LinePart {
  Interval range;  ///< rows or columns of the matrix
  rma::TeamRank owner;
  std::int64_t offset = 0;        ///< of the first, in elements, in the owner's slice
  std::int64_t stride = 0;        ///< along the line
  std::int64_t cross_stride = 0;  ///< to the next line of the same block

  /// True if `next` continues in the same memory with the same strides.
  [[nodiscard]] bool continues_with(const LinePart& next) const noexcept {
    return owner == next.owner && stride == next.stride && cross_stride == next.cross_stride &&
           next.offset == offset + range.length() * stride;
  }
};

/// Calls `action(LinePart)` for the parts of the line along `axis` at index `other` of the other
/// axis, for the indices in `list`, until it returns false.
template <class Action>
void for_each_line_part(const MatrixMap& map, Axis axis, const IntervalList& list,
                        std::int64_t other, Action&& action) {
  const int along = axis == Axis::rows ? map.row_dim : map.column_dim;
  const int across = axis == Axis::rows ? map.column_dim : map.row_dim;
  const Interval single{other, other + 1};
  for (const Interval& interval : list) {
    const arrays::Box box =
        axis == Axis::rows ? map.part(interval, single) : map.part(single, interval);
    for (const arrays::Patch& patch : map.array->distribution().patches(box)) {
      const std::int64_t origin = map.box.lo(along);
      if (!action(LinePart{.range = {patch.box.lo(along) - origin, patch.box.hi(along) - origin},
                           .owner = patch.owner,
                           .offset = patch.offset,
                           .stride = patch.strides[along],
                           .cross_stride = patch.strides[across]})) {
        return;
      }
    }
  }
}

/// The location of some rows and columns of a matrix, if they are one matrix in one slice.
struct MatrixLocation {
  rma::TeamRank owner;
  std::int64_t offset = 0;  ///< of the first element, in elements
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;
};

/// The location of these rows and columns; unset if they are on several ranks, or not one matrix in
/// a rank's memory. Requires: neither list is empty. Cost: O(blocks along both lists).
std::optional<MatrixLocation> locate(const MatrixMap& map, const IntervalList& rows,
                                     const IntervalList& columns);

}  // namespace tessera::linalg::detail
