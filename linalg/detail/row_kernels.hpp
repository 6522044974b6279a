// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. The loops over entries of sparse rows. `column` has indices of the vector in use.
#pragma once

#include <cstdint>
#include <span>

#include "linalg/detail/arithmetic.hpp"
#include "linalg/detail/row_blocks.hpp"
#include "linalg/local_csr.hpp"

namespace tessera::linalg::detail {

/// The sum over a row in a fixed order: four sums of every fourth entry, so that additions don't
/// wait for each other; then the total of these and of the rest.
template <SparseElement T, class ColumnIndex>
inline T row_sum(const T* value, const ColumnIndex* column, std::int64_t entries,
                 const T* x) noexcept {
  T sum{};
  std::int64_t k = 0;
  if (entries >= 8) {
    T sum1{};
    T sum2{};
    T sum3{};
    for (; k + 4 <= entries; k += 4) {
      sum = multiply_add(sum, value[k], x[column[k]]);
      sum1 = multiply_add(sum1, value[k + 1], x[column[k + 1]]);
      sum2 = multiply_add(sum2, value[k + 2], x[column[k + 2]]);
      sum3 = multiply_add(sum3, value[k + 3], x[column[k + 3]]);
    }
    sum = add(add(sum, sum1), add(sum2, sum3));
  }
  for (; k < entries; ++k) {
    sum = multiply_add(sum, value[k], x[column[k]]);
  }
  return sum;
}

/// A block of rows in the form that the loops use.
template <SparseElement T, class ColumnIndex>
struct RowsView {
  const std::int64_t* row_starts = nullptr;
  const ColumnIndex* column = nullptr;
  const T* value = nullptr;
};

/// y[i] = row i · x, for the rows of some ranges.
template <SparseElement T, class ColumnIndex>
[[gnu::noinline]] void multiply_rows(const RowsView<T, ColumnIndex>& rows,
                                     std::span<const RowRange> ranges, const T* x, T* y) noexcept {
  for (const RowRange& range : ranges) {
    std::int64_t start = rows.row_starts[range.lo];
    for (std::int64_t row = range.lo; row < range.hi; ++row) {
      const std::int64_t end = rows.row_starts[row + 1];
      y[row] = row_sum(rows.value + start, rows.column + start, end - start, x);
      start = end;
    }
  }
}

/// x[column] += entry * y[i], for the entries of the rows of some ranges.
template <SparseElement T, class ColumnIndex>
[[gnu::noinline]] void multiply_rows_transposed(const RowsView<T, ColumnIndex>& rows,
                                                std::span<const RowRange> ranges, const T* y,
                                                T* x) noexcept {
  for (const RowRange& range : ranges) {
    for (std::int64_t row = range.lo; row < range.hi; ++row) {
      for (std::int64_t k = rows.row_starts[row]; k < rows.row_starts[row + 1]; ++k) {
        x[rows.column[k]] = multiply_add(x[rows.column[k]], rows.value[k], y[row]);
      }
    }
  }
}

/// to[j] += factor * from[j], for `count` elements that don't overlap.
template <SparseElement T>
inline void add_multiple(T factor, const T* __restrict from, std::int64_t count,
                         T* __restrict to) noexcept {
  for (std::int64_t j = 0; j < count; ++j) {
    to[j] = multiply_add(to[j], factor, from[j]);
  }
}

}  // namespace tessera::linalg::detail
