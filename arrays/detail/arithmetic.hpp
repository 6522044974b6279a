// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Arithmetic on elements, in addition to rma/arithmetic.hpp: quotients, conjugates, and
// an order, which compares complex numbers by their absolute values.
#pragma once

#include <cmath>
#include <complex>
#include <type_traits>

#include "rma/arithmetic.hpp"
#include "rma/element.hpp"

namespace tessera::arrays::detail {

using rma::absolute;
using rma::add;
using rma::multiply;

/// Requires: b is not an integer zero.
template <rma::Element T>
T divide(T a, T b) noexcept {
  if constexpr (rma::IntegerElement<T> && std::is_signed_v<T>) {
    // The only quotient that overflows is the most negative number divided by −1.
    return b == T{-1} ? rma::negate(a) : static_cast<T>(a / b);
  } else {
    return static_cast<T>(a / b);
  }
}

template <rma::Element T>
bool is_nan(T a) noexcept {
  return a != a;
}

/// The order of min, max and median. Absolute values of complex numbers are doubles; if one is
/// beyond the range of doubles, they are divided by four first.
template <rma::Element T>
bool is_less(T a, T b) noexcept {
  if constexpr (rma::ComplexElement<T>) {
    using Wide = std::complex<double>;
    const double of_a = std::abs(Wide(a));
    const double of_b = std::abs(Wide(b));
    return std::isinf(of_a) && std::isinf(of_b)
               ? std::abs(Wide(a) * 0.25) < std::abs(Wide(b) * 0.25)
               : of_a < of_b;
  } else {
    return a < b;
  }
}

/// The complex conjugate; a real number itself.
template <rma::Element T>
T conjugate(T a) noexcept {
  if constexpr (rma::ComplexElement<T>) {
    return std::conj(a);
  } else {
    return a;
  }
}

}  // namespace tessera::arrays::detail
