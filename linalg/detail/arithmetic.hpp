// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Sums and products as the matrices compute them: integers wrap, and complex products
// follow the formula, without the search for infinities that the operator makes.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

#include "linalg/local_csr.hpp"
#include "rma/element.hpp"

namespace tessera::linalg::detail {

template <SparseElement T>
inline T add(T a, T b) noexcept {
  if constexpr (std::is_integral_v<T>) {
    using U = rma::Wrapping<T>;
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  } else {
    return a + b;
  }
}

template <SparseElement T>
inline T multiply(T a, T b) noexcept {
  if constexpr (std::is_integral_v<T>) {
    using U = rma::Wrapping<T>;
    return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
  } else if constexpr (rma::ComplexElement<T>) {
    return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  } else {
    return a * b;
  }
}

/// sum + a * b.
template <SparseElement T>
inline T multiply_add(T sum, T a, T b) noexcept {
  if constexpr (rma::ComplexElement<T>) {
    return T(sum.real() + a.real() * b.real() - a.imag() * b.imag(),
             sum.imag() + a.real() * b.imag() + a.imag() * b.real());
  } else {
    return add(sum, multiply(a, b));
  }
}

/// −value.
template <SparseElement T>
inline T negate(T value) noexcept {
  if constexpr (std::is_integral_v<T>) {
    using U = rma::Wrapping<T>;
    return static_cast<T>(U{0} - static_cast<U>(value));
  } else {
    return -value;
  }
}

/// True when |value| > threshold, and for what is not a number.
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
