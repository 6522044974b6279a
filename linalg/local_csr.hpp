// SPDX-License-Identifier: BSD-3-Clause
//
// LocalCsr: rows of a sparse matrix in this process's own memory, compressed. Triplet: one entry
// with its row and column. Sparse matrices are made from them and read as them; csr.hpp has
// matrices that are distributed over ranks.
//
//     | 5 . 7 |      row_starts  0 2 2 3      entries of row i: row_starts[i] … row_starts[i + 1]
//     | . . . |      column      0 2 1
//     | . 8 . |      value       5 7 8
//
// Invariants of the rows that this library returns and accepts: row_starts has rows + 1 numbers
// that begin with 0 and don't decrease; the columns of a row increase strictly and are in 0 …
// columns − 1. check_rows() names a violation. Explicit zeros are entries like all others.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rma/base/status.hpp"
#include "rma/element.hpp"

namespace tessera::linalg {

/// The types that entries of sparse matrices may have.
template <class T>
concept SparseElement = rma::ComplexElement<T> || std::same_as<T, float> ||
    std::same_as<T, double> || std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t>;

/// One entry of a sparse matrix.
template <SparseElement T>
struct Triplet {
  std::int64_t row = 0;
  std::int64_t column = 0;
  T value{};
  friend bool operator==(const Triplet&, const Triplet&) = default;
};

/// Rows of a sparse matrix in this process's memory, compressed; see above.
template <SparseElement T>
struct LocalCsr {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<std::int64_t> row_starts = {0};
  std::vector<std::int64_t> column = {};
  std::vector<T> value = {};

  [[nodiscard]] std::int64_t entries() const noexcept { return std::ssize(column); }
  friend bool operator==(const LocalCsr&, const LocalCsr&) = default;
};

/// Local. Errors: invalid_argument, which names the row and the entry that break an invariant.
rma::Status check_rows(std::int64_t rows, std::int64_t columns,
                       std::span<const std::int64_t> row_starts,
                       std::span<const std::int64_t> column);
template <SparseElement T>
rma::Status check_rows(const LocalCsr<T>& given) {
  TESSERA_RETURN_IF_ERROR(check_rows(given.rows, given.columns, given.row_starts, given.column));
  return given.value.size() == given.column.size()
             ? rma::Status()
             : rma::Status::error(rma::Code::invalid_argument,
                                  "there are " + std::to_string(given.value.size()) +
                                      " values for " + std::to_string(given.column.size()) +
                                      " columns of entries");
}

/// Local. The entries one by one, row by row. Row 0 and column 0 of `rows` get the numbers
/// `first_row` and `first_column`. Requires: check_rows(rows) is ok.
template <SparseElement T>
std::vector<Triplet<T>> to_triplets(const LocalCsr<T>& rows, std::int64_t first_row = 0,
                                    std::int64_t first_column = 0) {
  std::vector<Triplet<T>> all;
  all.reserve(rows.column.size());
  for (std::int64_t row = 0; row < rows.rows; ++row) {
    const auto end = static_cast<std::size_t>(rows.row_starts[static_cast<std::size_t>(row) + 1]);
    while (all.size() < end) {
      const std::size_t entry = all.size();
      all.push_back({first_row + row, first_column + rows.column[entry], rows.value[entry]});
    }
  }
  return all;
}

}  // namespace tessera::linalg
