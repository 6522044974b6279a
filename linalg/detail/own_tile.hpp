// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. OwnTile<T>: some rows and columns of C that this rank owns, while products are added to
// them.
//
// They are updated in one of three ways. If they are one matrix in this rank's slice, in place. If
// blocks are so large that separate calls are as fast, block by block. Otherwise in a dense scratch
// matrix, which is added to the blocks at the end.
#pragma once

#include <cstdint>

#include "linalg/detail/own_parts.hpp"
#include "linalg/detail/panel.hpp"
#include "linalg/local_matrix.hpp"

namespace tessera::linalg::detail {

/// How a part of C is updated.
enum class TileTarget : std::uint8_t { in_place, block_by_block, scratch };

/// Requires: the part is not empty, and belongs to the calling rank.
TileTarget choose_target(const MatrixMap& c, const OwnPart& part);

/// Local. Calls `action(block, row, column)` for each block of a tile: its elements in `slice`,
/// which is this rank's memory of C, and its position in the tile.
template <class T, class Action>
void for_each_block(const MatrixMap& c, const OwnPart& tile, T* slice, Action&& action) {
  std::int64_t row = 0;
  for (const Interval& in_rows : tile.rows) {
    std::int64_t column = 0;
    for (const Interval& in_columns : tile.columns) {
      auto patches = c.array->distribution().patches(c.part(in_rows, in_columns));
      const arrays::Patch& patch = *patches.begin();
      action(LocalMatrix<T>{slice + patch.offset, in_rows.length(), in_columns.length(),
                            patch.strides[c.row_dim], patch.strides[c.column_dim]},
             row, column);
      column += in_columns.length();
    }
    row += in_rows.length();
  }
}

/// block = beta block; for beta = 0 the block isn't read.
template <Scalar T>
void scale(const LocalMatrix<T>& block, T beta);

template <Scalar T>
class OwnTile {
 public:
  /// `slice` is this rank's memory of C.
  OwnTile(const MatrixMap& c, T* slice) noexcept : c_(c), slice_(slice) {}

  /// Local. Begins a tile; later calls are for it. Errors: no_memory.
  rma::Status begin(OwnPart tile, TileTarget target);
  /// Local. Adds alpha A B; the first call also multiplies the tile by beta.
  rma::Status add_product(T alpha, const LocalMatrix<const T>& a, bool conjugates_a,
                          const LocalMatrix<const T>& b, bool conjugates_b, T beta);
  /// Local. Ends the tile: all products have been added.
  void end();

 private:
  MatrixMap c_;
  T* slice_;
  OwnPart tile_;
  TileTarget target_ = TileTarget::in_place;
  LocalMatrix<T> matrix_;  // in place, or in scratch_
  Scratch scratch_;
  T beta_ = T{1};
  bool is_first_ = true;
};

}  // namespace tessera::linalg::detail
