// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Checks of a matrix's values for LAPACK and ScaLAPACK. With elements that are not
// finite, iterations may not end, or the libraries print a message; with a factor that is not
// positive they continue with NaN.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <string>
#include <string_view>

#include "linalg/local_matrix.hpp"
#include "rma/base/status.hpp"

namespace tessera::linalg::detail {

template <class T>
bool is_finite(T value) noexcept {
  return std::isfinite(std::real(value)) && std::isfinite(std::imag(value));
}

/// The part of a matrix that is read; for a Hermitian matrix, a triangle.
enum class Read { all, lower };

/// An error that names an element that is not finite; `value` is the element.
template <class T>
rma::Status not_finite(std::string_view matrix, T value) {
  const bool is_nan = std::isnan(std::real(value)) || std::isnan(std::imag(value));
  return rma::Status::error(rma::Code::invalid_argument,
                            std::string(matrix) + " has an element that is not a finite number: " +
                                (is_nan ? "NaN" : "infinity"));
}

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
