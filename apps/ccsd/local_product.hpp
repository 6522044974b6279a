// SPDX-License-Identifier: BSD-3-Clause
//
// Products of small matrices in this process's memory, in row-major order.
#pragma once

#include <cstdint>

#include "linalg/blas.hpp"
#include "linalg/local_matrix.hpp"

namespace tessera::apps::ccsd {

using Matrix = linalg::LocalMatrix<double>;
using ConstMatrix = linalg::LocalMatrix<const double>;

inline Matrix matrix(double* data, std::int64_t rows, std::int64_t columns) {
  return {data, rows, columns, columns, 1};
}
inline ConstMatrix matrix(const double* data, std::int64_t rows, std::int64_t columns) {
  return {data, rows, columns, columns, 1};
}

/// Local. C += alpha A B.
inline rma::Status add_product(const Matrix& c, double alpha, const ConstMatrix& a,
                               const ConstMatrix& b) {
  return linalg::blas::gemm<double>(alpha, {a}, {b}, 1.0, c);
}

}  // namespace tessera::apps::ccsd
