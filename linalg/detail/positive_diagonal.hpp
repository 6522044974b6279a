// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Whether a Cholesky factor is one: libraries go on with NaN.
#pragma once

#include <complex>
#include <cstdint>

#include "linalg/local_matrix.hpp"

namespace tessera::linalg::detail {

/// 1 + the first place of the diagonal that is no positive number, 0 if there is none.
template <Scalar T>
std::int64_t first_not_positive(const LocalMatrix<T>& factor) {
  for (std::int64_t i = 0; i < factor.rows; ++i) {
    if (!(std::real(factor.data[i * (factor.row_stride + factor.column_stride)]) > 0)) {
      return i + 1;
    }
  }
  return 0;
}

}  // namespace tessera::linalg::detail
