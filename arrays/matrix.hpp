// SPDX-License-Identifier: BSD-3-Clause
//
// Diagonals, rows and columns of matrices: arrays, or parts of arrays, of two dimensions.
//
//     shift_diagonal(a, -lambda);                     // A − λ I
//     scale_rows(part(a, box), d);                    // diag(d) A
//
// A vector is an array, or part of one, of one dimension, with any distribution. All members of the
// matrix's team must be members of its team. The diagonal of an m × n matrix consists of the
// elements (i, i) for i < min(m, n), counted from the part's lower corner.
//
// All functions are collective over the matrix's team, and begin and end with a synchronisation.
// Errors of each: as in elementwise.hpp, for scalars too; invalid_argument for another number of
// dimensions, or a vector of another length. Cost: O(own elements that are read or written), and
// the transfer of the vector elements that they need.
#pragma once

#include <complex>
#include <cstdint>

#include "arrays/elementwise.hpp"
#include "arrays/subarray.hpp"
#include "rma/base/result.hpp"

namespace tessera::arrays {

namespace detail {
/// The implementations, compiled once for each element type.
template <rma::Element T>
struct MatrixOperations {
  static rma::Status add_diagonal(const Subarray<T>& a, const Subarray<T>& v);
  static rma::Status set_diagonal(const Subarray<T>& a, const Subarray<T>& v);
  static rma::Status get_diagonal(const Subarray<T>& a, const Subarray<T>& v);
  static rma::Status shift_diagonal(const Subarray<T>& a, T value);
  static rma::Status fill_diagonal(const Subarray<T>& a, T value);
  static rma::Status scale_along(const Subarray<T>& a, const Subarray<T>& v, int along);
  static rma::Status symmetrize(const Subarray<T>& a);
};
extern template struct MatrixOperations<std::int8_t>;
extern template struct MatrixOperations<std::int16_t>;
extern template struct MatrixOperations<std::int32_t>;
extern template struct MatrixOperations<std::int64_t>;
extern template struct MatrixOperations<std::uint8_t>;
extern template struct MatrixOperations<std::uint16_t>;
extern template struct MatrixOperations<std::uint32_t>;
extern template struct MatrixOperations<std::uint64_t>;
extern template struct MatrixOperations<float>;
extern template struct MatrixOperations<double>;
extern template struct MatrixOperations<std::complex<float>>;
extern template struct MatrixOperations<std::complex<double>>;

template <Operand A>
using MatrixOperationsOf = MatrixOperations<NumberOf<A>>;
}  // namespace detail

/// Collective. a(i, i) += v(i).
template <Operand A, OperandLike<A> V>
rma::Status add_diagonal(A&& a, const V& v) {
  return detail::MatrixOperationsOf<A>::add_diagonal(part(a), part(v));
}
/// Collective. a(i, i) = v(i).
template <Operand A, OperandLike<A> V>
rma::Status set_diagonal(A&& a, const V& v) {
  return detail::MatrixOperationsOf<A>::set_diagonal(part(a), part(v));
}
/// Collective. v(i) = a(i, i).
template <Operand A, OperandLike<A> V>
rma::Status get_diagonal(const A& a, V&& v) {
  return detail::MatrixOperationsOf<A>::get_diagonal(part(a), part(v));
}
/// Collective. a(i, i) += value.
template <Operand A>
rma::Status shift_diagonal(A&& a, ElementOf<A> value) {
  return detail::MatrixOperationsOf<A>::shift_diagonal(part(a), value);
}
/// Collective. a(i, i) = value.
template <Operand A>
rma::Status fill_diagonal(A&& a, ElementOf<A> value) {
  return detail::MatrixOperationsOf<A>::fill_diagonal(part(a), value);
}
/// Collective. a(i, i) = 0.
template <Operand A>
rma::Status zero_diagonal(A&& a) {
  return detail::MatrixOperationsOf<A>::fill_diagonal(part(a), ElementOf<A>{});
}

/// Collective. a(i, j) *= v(i). `v` has as many elements as `a` has rows.
template <Operand A, OperandLike<A> V>
rma::Status scale_rows(A&& a, const V& v) {
  return detail::MatrixOperationsOf<A>::scale_along(part(a), part(v), 0);
}
/// Collective. a(i, j) *= v(j). `v` has as many elements as `a` has columns.
template <Operand A, OperandLike<A> V>
rma::Status scale_columns(A&& a, const V& v) {
  return detail::MatrixOperationsOf<A>::scale_along(part(a), part(v), 1);
}

/// Collective. a = (a + aᵀ) / 2, in place; integers are rounded towards zero. The owner of the
/// element above the diagonal computes each pair. Errors: also invalid_argument for a matrix that
/// isn't square.
template <Operand A>
rma::Status symmetrize(A&& a) {
  return detail::MatrixOperationsOf<A>::symmetrize(part(a));
}

}  // namespace tessera::arrays
