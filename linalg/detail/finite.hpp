// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. What QR, eigenvalues and singular values are not asked of: LAPACK's iterations may not
// end with it, or print a message.
#pragma once

#include <cmath>
#include <complex>
#include <string>
#include <string_view>

#include "rma/status.hpp"

namespace tessera::linalg::detail {

template <class T>
bool is_finite(T value) noexcept {
  return std::isfinite(std::real(value)) && std::isfinite(std::imag(value));
}

/// What is read of a matrix: of a Hermitian one a triangle.
enum class Read { all, lower };

/// `value` is the element.
template <class T>
rma::Status not_finite(std::string_view matrix, T value) {
  const bool is_nan = std::isnan(std::real(value)) || std::isnan(std::imag(value));
  return rma::Status::error(rma::Code::invalid_argument,
                            std::string(matrix) + " has an element that is not a finite number: " +
                                (is_nan ? "NaN" : "infinity"));
}

}  // namespace tessera::linalg::detail
