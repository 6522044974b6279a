// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. A contraction as a product of matrices: which dimensions of C and A are the rows, which
// of C and B the columns, and which of A and B are summed over.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "arrays/array_base.hpp"
#include "linalg/local_matrix.hpp"
#include "rma/base/result.hpp"

namespace tessera::linalg::detail {

/// Dimensions of two arrays that have the same letter, the slowest in memory first.
struct DimPairs {
  std::vector<int> left;
  std::vector<int> right;
};

struct Contraction {
  DimPairs rows;     ///< dimensions of C and A
  DimPairs columns;  ///< dimensions of C and B
  DimPairs inner;    ///< dimensions of A and B
};

/// An array and its letters.
struct LetteredArray {
  std::string_view name;  ///< "A", in messages
  std::string_view letters;
  arrays::ArrayBase* array = nullptr;
};

/// Errors: invalid_argument, which names the letter.
rma::Result<Contraction> analyse(const LetteredArray& c, const LetteredArray& a,
                                 const LetteredArray& b);

/// The product of the extents of some dimensions.
[[nodiscard]] std::int64_t extent_of(const arrays::Extents& extents, const std::vector<int>& dims);

/// The stride with which some dimensions, the slowest first, can be traversed as one; unset if they
/// can't.
std::optional<std::int64_t> common_stride(const arrays::Extents& extents,
                                          const arrays::Strides& strides,
                                          const std::vector<int>& dims);

/// The strides of a dense matrix whose rows run over some dimensions and whose columns run over the
/// others, for each dimension of the array.
arrays::Strides matrix_strides(const arrays::Extents& extents, const std::vector<int>& row_dims,
                               const std::vector<int>& column_dims);

/// Memory as a matrix that BLAS accepts; unset if its dimensions don't form one.
template <class T>
std::optional<LocalMatrix<T>> as_matrix(T* data, const arrays::Extents& extents,
                                        const arrays::Strides& strides,
                                        const std::vector<int>& row_dims,
                                        const std::vector<int>& column_dims) {
  const auto row_stride = common_stride(extents, strides, row_dims);
  const auto column_stride = common_stride(extents, strides, column_dims);
  if (!row_stride || !column_stride) {
    return std::nullopt;
  }
  const LocalMatrix<T> matrix{data, extent_of(extents, row_dims), extent_of(extents, column_dims),
                              *row_stride, *column_stride};
  return matrix.fits_blas() ? std::optional(matrix) : std::nullopt;
}

}  // namespace tessera::linalg::detail
