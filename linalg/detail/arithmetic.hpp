// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Arithmetic on entries of matrices, in addition to rma/arithmetic.hpp.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

#include "linalg/local_csr.hpp"
#include "rma/arithmetic.hpp"
#include "rma/element.hpp"

namespace tessera::linalg::detail {

using rma::add;
using rma::multiply;
using rma::negate;

/// Returns sum + a * b.
template <SparseElement T>
inline T multiply_add(T sum, T a, T b) noexcept {
  if constexpr (rma::ComplexElement<T>) {
    return T(sum.real() + a.real() * b.real() - a.imag() * b.imag(),
             sum.imag() + a.real() * b.imag() + a.imag() * b.real());
  } else {
    return add(sum, multiply(a, b));
  }
}

/// True if |value| > threshold, and for NaN.
template <SparseElement T>
inline bool exceeds(T value, double threshold) noexcept {
  if constexpr (rma::ComplexElement<T>) {
    return !(static_cast<double>(std::abs(value)) <= threshold);
  } else {
    const auto number = static_cast<double>(value);
    return !(number <= threshold && -number <= threshold);
  }
}

}  // namespace tessera::linalg::detail
