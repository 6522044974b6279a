// SPDX-License-Identifier: BSD-3-Clause
//
// LocalMatrix<T>: a matrix in memory of this process, as a pointer, two extents and two strides.
//
//     LocalMatrix<double> a{pointer, 3, 4, 4, 1};    // row-major: a(i, j) is pointer[4 * i + j]
//     auto b = a.transposed().part(1, 2, 0, 3);      // rows 1 and 2, columns 0 to 2 of the 4 x 3
//
// It owns nothing and checks nothing. Transposing swaps the strides; no element moves. BLAS takes
// matrices with one stride of 1 and another one that fits 32 bits: see fits_blas().
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "rma/element.hpp"

namespace tessera::linalg {

/// The types that BLAS computes with.
template <class T>
concept Scalar = rma::Element<T> && !rma::IntegerElement<T>;

/// A matrix in memory of this process; see above.
template <class T>
struct LocalMatrix {
  T* data = nullptr;  ///< element (0, 0)
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t row_stride = 0;     ///< elements from one row to the next
  std::int64_t column_stride = 1;  ///< elements from one column to the next

  // NOLINTNEXTLINE(google-explicit-constructor): as T* becomes const T*
  operator LocalMatrix<const T>() const noexcept requires(!std::is_const_v<T>) {
    return {data, rows, columns, row_stride, column_stride};
  }

  /// The element at (row, column), from 0. Requires: it is inside; nothing is checked.
  [[nodiscard]] T& operator()(std::int64_t row, std::int64_t column) const noexcept {
    return data[row * row_stride + column * column_stride];
  }
  [[nodiscard]] bool is_empty() const noexcept { return rows == 0 || columns == 0; }
  /// The transpose of the same memory.
  [[nodiscard]] LocalMatrix transposed() const noexcept {
    return {data, columns, rows, column_stride, row_stride};
  }
  /// The `row_count` rows from `row` on and the `column_count` columns from `column` on.
  [[nodiscard]] LocalMatrix part(std::int64_t row, std::int64_t row_count, std::int64_t column,
                                 std::int64_t column_count) const noexcept {
    return {data + row * row_stride + column * column_stride, row_count, column_count, row_stride,
            column_stride};
  }

  /// True if the elements of a row are contiguous, and rows don't overlap.
  [[nodiscard]] bool is_row_major() const noexcept {
    return (column_stride == 1 || columns <= 1) && (row_stride >= columns || rows <= 1);
  }
  [[nodiscard]] bool is_column_major() const noexcept { return transposed().is_row_major(); }
  /// True if the strides that matter fit 32 bits, as most BLAS libraries require.
  [[nodiscard]] bool has_short_strides() const noexcept {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    return (rows <= 1 || row_stride <= most) && (columns <= 1 || column_stride <= most);
  }
  /// True if BLAS accepts the matrix: one stride is 1, and strides fit 32 bits.
  [[nodiscard]] bool fits_blas() const noexcept {
    return (is_row_major() || is_column_major()) && has_short_strides();
  }
};

}  // namespace tessera::linalg
