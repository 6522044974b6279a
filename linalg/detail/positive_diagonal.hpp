// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Checks a Cholesky factor, since libraries continue with NaN.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>

#include "linalg/local_matrix.hpp"

namespace tessera::linalg::detail {

/// False for NaN too, without the floating-point exception that a comparison with > raises.
template <class T>
bool is_positive(T value) noexcept {
  return std::isgreater(std::real(value), rma::RealOf<T>{0});
}

/// 1 + the first index of the diagonal whose element is not a positive number; 0 if there is none.
template <Scalar T>
std::int64_t first_not_positive(const LocalMatrix<T>& factor) {
  for (std::int64_t i = 0; i < factor.rows; ++i) {
    if (!is_positive(factor.data[i * (factor.row_stride + factor.column_stride)])) {
      return i + 1;
    }
  }
  return 0;
}

}  // namespace tessera::linalg::detail
