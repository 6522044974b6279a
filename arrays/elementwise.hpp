// SPDX-License-Identifier: BSD-3-Clause
//
// Operations on whole arrays: fill, scale, copy, dot and norm.
//
// All are collective over the array's team. They begin and end with a synchronisation, as data
// parallel programs expect: what others wrote before is seen, what was computed is seen by all
// after. Ghost cells are neither read nor written. Each rank works on its own blocks, in place.
//
// Errors of all: closed, peer_lost; invalid_argument where two arrays do not fit each other.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

#include "arrays/array.hpp"
#include "rma/element.hpp"
#include "rma/result.hpp"

namespace tessera::arrays {

namespace detail {
/// The bodies, compiled once for each element type.
template <rma::Element T>
struct Elementwise {
  static rma::Status fill(Array<T>& array, T value);
  static rma::Status scale(Array<T>& array, T alpha);
  static rma::Status copy(const Array<T>& from, Array<T>& to);
  static rma::Result<T> dot(Array<T>& a, Array<T>& b);
  static rma::Result<double> norm2(Array<T>& array);
};
extern template struct Elementwise<std::int32_t>;
extern template struct Elementwise<std::int64_t>;
extern template struct Elementwise<float>;
extern template struct Elementwise<double>;
extern template struct Elementwise<std::complex<float>>;
extern template struct Elementwise<std::complex<double>>;
}  // namespace detail

/// Collective. Sets every element to `value`.
template <rma::Element T>
rma::Status fill(Array<T>& array, std::type_identity_t<T> value) {
  return detail::Elementwise<T>::fill(array, value);
}

/// Collective. Multiplies every element by `alpha`.
template <rma::Element T>
rma::Status scale(Array<T>& array, std::type_identity_t<T> alpha) {
  return detail::Elementwise<T>::scale(array, alpha);
}

/// Collective over the team of `to`. to = from, element by element; the distributions may differ.
/// Requires: where the teams differ, all members of that of `to` are members of the other, and what
/// was written to `from` is complete (from.sync()). Errors: invalid_argument when the extents
/// differ.
template <rma::Element T>
rma::Status copy(const Array<T>& from, Array<T>& to) {
  return detail::Elementwise<T>::copy(from, to);
}

/// Collective. The sum over all elements of a * b (not conjugated); the same on all members. Summed
/// rank by rank, so the last digits depend on the number of ranks.
/// Errors: invalid_argument when the distributions or teams differ.
template <rma::Element T>
rma::Result<T> dot(Array<T>& a, Array<T>& b) {
  return detail::Elementwise<T>::dot(a, b);
}

/// Collective. The square root of the sum of |element|².
template <rma::Element T>
rma::Result<double> norm2(Array<T>& array) {
  return detail::Elementwise<T>::norm2(array);
}

}  // namespace tessera::arrays
