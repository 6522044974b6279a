// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Checks for elements that are not finite, before QR, eigenvalues and singular values:
// with such elements LAPACK's iterations may not end, or LAPACK prints a message.
#pragma once

#include <cmath>
#include <complex>
#include <string>
#include <string_view>

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

}  // namespace tessera::linalg::detail
