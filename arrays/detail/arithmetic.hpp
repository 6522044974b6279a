// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Arithmetic on elements of any type: integers wrap, complex numbers are ordered by their
// absolute values.
#pragma once

#include <cmath>
#include <complex>
#include <type_traits>

#include "rma/element.hpp"

namespace tessera::arrays::detail {

template <rma::Element T>
T add(T a, T b) noexcept {
  if constexpr (rma::IntegerElement<T>) {
    return static_cast<T>(static_cast<rma::Wrapping<T>>(a) + static_cast<rma::Wrapping<T>>(b));
  } else {
    return a + b;
  }
}

// Complex products by parts, without the recovery of infinities that C's multiplication has.
template <rma::Element T>
T multiply(T a, T b) noexcept {
  if constexpr (rma::IntegerElement<T>) {
    return static_cast<T>(static_cast<rma::Wrapping<T>>(a) * static_cast<rma::Wrapping<T>>(b));
  } else if constexpr (rma::ComplexElement<T>) {
    return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  } else {
    return a * b;
  }
}

/// Requires: b is not an integer zero.
template <rma::Element T>
T divide(T a, T b) noexcept {
  if constexpr (rma::IntegerElement<T> && std::is_signed_v<T>) {
    // The only quotient that overflows is that of the most negative number.
    return b == T{-1} ? static_cast<T>(rma::Wrapping<T>{0} - static_cast<rma::Wrapping<T>>(a))
                      : static_cast<T>(a / b);
  } else {
    return static_cast<T>(a / b);
  }
}

/// |a| as an element; the most negative integer stays.
template <rma::Element T>
T absolute(T a) noexcept {
  if constexpr (std::is_unsigned_v<T>) {
    return a;
  } else if constexpr (rma::IntegerElement<T>) {
    return a < 0 ? static_cast<T>(rma::Wrapping<T>{0} - static_cast<rma::Wrapping<T>>(a)) : a;
  } else {
    return T(std::abs(a));
  }
}

/// The order of min, max and median.
template <rma::Element T>
bool is_less(T a, T b) noexcept {
  if constexpr (rma::ComplexElement<T>) {
    return std::abs(a) < std::abs(b);
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
