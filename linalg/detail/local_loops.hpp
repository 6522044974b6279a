// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Small loops over matrices in local memory: the exchanges of rows in LU, the complex
// conjugate, and copies.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "linalg/local_matrix.hpp"

namespace tessera::linalg::detail {

/// Exchanges row i with row pivots[i], for i = `from`, `from` + 1, …
template <class T, class Pivot>
void exchange_rows(const LocalMatrix<T>& a, std::span<const Pivot> pivots, std::int64_t from = 0) {
  // Column by column, so that a column stays in the caches.
  for (std::int64_t column = 0; column < a.columns; ++column) {
    for (std::int64_t row = from; row < std::ssize(pivots); ++row) {
      std::swap(a(row, column), a(pivots[static_cast<std::size_t>(row)], column));
    }
  }
}

/// Undoes these exchanges, the last one first.
template <class T, class Pivot>
void exchange_rows_back(const LocalMatrix<T>& a, std::span<const Pivot> pivots) {
  for (std::int64_t column = 0; column < a.columns; ++column) {
    for (std::int64_t row = std::ssize(pivots) - 1; row >= 0; --row) {
      std::swap(a(row, column), a(pivots[static_cast<std::size_t>(row)], column));
    }
  }
}

/// Conjugates every element; does nothing for real types.
template <class T>
void conjugate_in_place([[maybe_unused]] const LocalMatrix<T>& a) {
  if constexpr (rma::ComplexElement<T>) {
    for (std::int64_t column = 0; column < a.columns; ++column) {
      for (std::int64_t row = 0; row < a.rows; ++row) {
        a(row, column) = std::conj(a(row, column));
      }
    }
  }
}

/// A column-major copy, or its complex conjugate, in memory that is reused for the next copy.
template <Scalar T>
class ColumnMajorCopy {
 public:
  LocalMatrix<T> of(const LocalMatrix<const T>& from, bool is_conjugated) {
    values_.resize(static_cast<std::size_t>(from.rows * from.columns));
    const LocalMatrix<T> to{values_.data(), from.rows, from.columns, 1, from.rows};
    for (std::int64_t column = 0; column < from.columns; ++column) {
      for (std::int64_t row = 0; row < from.rows; ++row) {
        to(row, column) = from(row, column);
      }
    }
    if (is_conjugated) {
      conjugate_in_place(to);
    }
    return to;
  }

 private:
  std::vector<T> values_;
};

}  // namespace tessera::linalg::detail
