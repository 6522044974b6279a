// SPDX-License-Identifier: BSD-3-Clause
//
// Arithmetic on elements of any type, the same in all layers. Integers wrap, as programs that use
// them as hashes expect (signed overflow would be undefined). Complex products follow the formula,
// without the recovery of infinities that C's multiplication has.
#pragma once

#include <cmath>
#include <type_traits>

#include "rma/element.hpp"

namespace tessera::rma {

template <Element T>
T add(T a, T b) noexcept {
  if constexpr (IntegerElement<T>) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  } else {
    return a + b;
  }
}

template <Element T>
T multiply(T a, T b) noexcept {
  if constexpr (IntegerElement<T>) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  } else if constexpr (ComplexElement<T>) {
    return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  } else {
    return a * b;
  }
}

/// −a; the most negative integer is unchanged.
template <Element T>
T negate(T a) noexcept {
  if constexpr (IntegerElement<T>) {
    return static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(a));
  } else {
    return -a;
  }
}

/// |a| as an element; the most negative integer is unchanged.
template <Element T>
T absolute(T a) noexcept {
  if constexpr (std::is_unsigned_v<T>) {
    return a;
  } else if constexpr (IntegerElement<T>) {
    return a < 0 ? negate(a) : a;
  } else {
    return T(std::abs(a));
  }
}

/// The lesser or the greater of two; a NaN if one of them is one. Of zeros with different signs
/// either may be the result.
template <RealElement T>
T lesser(T a, T b) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    return b < a || b != b ? b : a;
  } else {
    return b < a ? b : a;
  }
}
template <RealElement T>
T greater(T a, T b) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    return b > a || b != b ? b : a;
  } else {
    return b > a ? b : a;
  }
}

}  // namespace tessera::rma
