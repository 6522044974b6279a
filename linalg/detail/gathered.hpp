// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Gathered: a distributed matrix in the memory of one rank, column-major, for operations
// without a distributed method.
#pragma once

#include <cstdint>
#include <string_view>

#include "linalg/detail/matrix_map.hpp"
#include "linalg/detail/panel.hpp"
#include "linalg/local_matrix.hpp"
#include "rma/base/status.hpp"

namespace tessera::linalg::detail {

template <Scalar T>
class Gathered {
 public:
  /// Local. Makes a matrix without contents. Errors: no_memory.
  rma::Status reserve(std::int64_t rows, std::int64_t columns) {
    TESSERA_RETURN_IF_ERROR(
        buffer_.reserve(static_cast<std::size_t>(rows * columns) * sizeof(T) + sizeof(T)));
    matrix_ = {static_cast<T*>(buffer_.data()), rows, columns, 1, rows};
    return {};
  }
  /// One-sided. Copies a distributed matrix here.
  rma::Status fetch(const MatrixMap& map) {
    TESSERA_RETURN_IF_ERROR(reserve(map.rows(), map.columns()));
    return map.array->get_box(map.box, buffer_of(map));
  }
  /// One-sided. Copies this matrix to a distributed matrix.
  rma::Status put(const MatrixMap& map) const {
    return map.array->put_box(map.box, buffer_of(map));
  }

  [[nodiscard]] const LocalMatrix<T>& matrix() const noexcept { return matrix_; }

 private:
  [[nodiscard]] arrays::LocalBuffer buffer_of(const MatrixMap& map) const {
    arrays::Strides strides = arrays::Strides::zeros(map.box.ndims());
    strides[map.row_dim] = matrix_.row_stride;
    strides[map.column_dim] = matrix_.column_stride;
    return {matrix_.data, strides};
  }

  Scratch buffer_;
  LocalMatrix<T> matrix_;
};

/// Local. Errors: limit_exceeded if `elements` numbers of T take more than `max_bytes`, or an
/// extent exceeds LAPACK's 32-bit work space sizes.
rma::Status check_gathered(const MatrixMap& map, double elements, std::int64_t max_bytes);

}  // namespace tessera::linalg::detail
