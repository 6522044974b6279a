// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. ColumnBlocks: a matrix whose blocks of columns are assigned to ranks round robin, so
// that each rank has whole columns:
//
//     block     0 0 1 1 2 2 3          blocks of 2 columns on 3 ranks
//     rank      0 0 1 1 2 2 0          rank 0 stores blocks 0 and 3 contiguously
//
// A rank's blocks, in the order of their numbers, are one column-major matrix.
#pragma once

#include <algorithm>
#include <cstdint>

#include "arrays/distribution.hpp"
#include "linalg/detail/interval_list.hpp"
#include "rma/base/result.hpp"

namespace tessera::linalg::detail {

struct ColumnBlocks {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t width = 1;  ///< columns in a block
  std::int64_t ranks = 1;
  std::int64_t rank = 0;  ///< the calling rank

  [[nodiscard]] std::int64_t count() const noexcept { return (columns + width - 1) / width; }
  [[nodiscard]] Interval block(std::int64_t number) const noexcept {
    return {number * width, std::min((number + 1) * width, columns)};
  }
  [[nodiscard]] rma::TeamRank owner(std::int64_t number) const noexcept {
    return {static_cast<std::int32_t>(number % ranks)};
  }
  [[nodiscard]] bool owns(std::int64_t number) const noexcept { return number % ranks == rank; }
  /// The number of this rank's columns in the blocks before `number`: the local index of its next
  /// column.
  [[nodiscard]] std::int64_t own_columns_before(std::int64_t number) const noexcept {
    const std::int64_t blocks = number > rank ? (number - rank - 1) / ranks + 1 : 0;
    const bool has_last = blocks > 0 && rank + (blocks - 1) * ranks == count() - 1;
    return has_last ? (blocks - 1) * width + block(count() - 1).length() : blocks * width;
  }
  [[nodiscard]] std::int64_t own_columns() const noexcept { return own_columns_before(count()); }
  /// This rank's first block with at least this number.
  [[nodiscard]] std::int64_t own_from(std::int64_t number) const noexcept {
    return number + (rank - number % ranks + ranks) % ranks;
  }

  [[nodiscard]] rma::Result<arrays::Distribution> distribution() const {
    return arrays::Distribution::scalapack(
        {rows, columns}, {std::max<std::int64_t>(rows, 1), width}, {1, ranks}, ranks);
  }
};

}  // namespace tessera::linalg::detail
