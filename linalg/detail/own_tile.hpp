// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. OwnTile<T>: some rows and columns of C that this rank has, while products are added.
//
// Three ways, by how they lie: as one matrix of this rank's slice; as blocks so large that a call
// for each is as fast; else in a dense scratch matrix, which is added to the blocks at the end.
#pragma once

#include <cstdint>

#include "linalg/detail/own_parts.hpp"
#include "linalg/detail/panel.hpp"
#include "linalg/local_matrix.hpp"

namespace tessera::linalg::detail {

/// How a part of C is updated.
enum class TileTarget : std::uint8_t { in_place, block_by_block, scratch };

/// Requires: the part is not empty, and the calling rank's.
TileTarget choose_target(const MatrixMap& c, const OwnPart& part);

/// Local. Calls `action(block, row, column)` for each block of a tile: its elements of `slice`,
/// this rank's memory of C, and where it begins in the tile.
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

/// block = beta block, which isn't read for beta = 0.
template <Scalar T>
void scale(const LocalMatrix<T>& block, T beta);

template <Scalar T>
class OwnTile {
 public:
  /// `slice` is this rank's memory of C.
  OwnTile(const MatrixMap& c, T* slice) noexcept : c_(c), slice_(slice) {}

  /// Local. What follows is for this tile. Errors: no_memory.
  rma::Status begin(OwnPart tile, TileTarget target);
  /// Local. Adds alpha A B, after the tile was multiplied by beta in the first call.
  rma::Status add_product(T alpha, const LocalMatrix<const T>& a, bool conjugates_a,
                          const LocalMatrix<const T>& b, bool conjugates_b, T beta);
  /// Local. All products are added.
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
