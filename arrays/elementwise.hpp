// SPDX-License-Identifier: BSD-3-Clause
//
// Arithmetic on whole arrays and parts of them, element by element.
//
//     fill(a, 1.0);
//     add(2.0, a, -1.0, part(b, box), c);             // c = 2 a − b
//     multiply(a, b, a);                              // the result may be one of the operands
//
// Every operand is an array or a part of one (subarray.hpp). All operands of an operation have the
// same extents and element type. Their distributions may differ, and so may their teams, as long as
// all members of the result's team can reach the other operands. The result may be one of the
// operands, if it is exactly the same part; other overlaps are refused.
//
// All functions are collective over the result's team. They begin and end with a synchronisation:
// they see all earlier writes of other ranks, and all ranks see the result afterwards. Ghost cells
// are neither read nor written. Each rank works on its own elements, in place; chunk_engine.hpp
// says what is fetched. Integers wrap around.
//
// Errors of each: invalid_argument (operands that don't match each other, an access mode that
// forbids it, or operands or scalars that differ among members; scalars are compared bit by bit),
// out_of_range, closed, peer_lost.
//
// Cost of each: O(own elements of the result), and the transfer of operand elements that other
// ranks own.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "arrays/subarray.hpp"
#include "rma/base/result.hpp"
#include "rma/element.hpp"

namespace tessera::arrays {

namespace detail {
/// The implementations, compiled once for each element type.
template <rma::Element T>
struct Elementwise {
  static rma::Status fill(const Subarray<T>& result, T value);
  static rma::Status scale(const Subarray<T>& result, T alpha);
  static rma::Status add_constant(const Subarray<T>& result, T value);
  static rma::Status absolute(const Subarray<T>& result);
  static rma::Status reciprocal(const Subarray<T>& result);
  static rma::Status copy(const Subarray<T>& from, const Subarray<T>& to);
  static rma::Status add(T alpha, const Subarray<T>& a, T beta, const Subarray<T>& b,
                         const Subarray<T>& result);
  static rma::Status multiply(const Subarray<T>& a, const Subarray<T>& b,
                              const Subarray<T>& result);
  static rma::Status divide(const Subarray<T>& a, const Subarray<T>& b, const Subarray<T>& result);
  static rma::Status maximum(const Subarray<T>& a, const Subarray<T>& b, const Subarray<T>& result);
  static rma::Status minimum(const Subarray<T>& a, const Subarray<T>& b, const Subarray<T>& result);
  static rma::Status median(const Subarray<T>& a, const Subarray<T>& b, const Subarray<T>& c,
                            const Subarray<T>& result);
};
extern template struct Elementwise<std::int8_t>;
extern template struct Elementwise<std::int16_t>;
extern template struct Elementwise<std::int32_t>;
extern template struct Elementwise<std::int64_t>;
extern template struct Elementwise<std::uint8_t>;
extern template struct Elementwise<std::uint16_t>;
extern template struct Elementwise<std::uint32_t>;
extern template struct Elementwise<std::uint64_t>;
extern template struct Elementwise<float>;
extern template struct Elementwise<double>;
extern template struct Elementwise<std::complex<float>>;
extern template struct Elementwise<std::complex<double>>;

template <Operand A>
using Elements = Elementwise<NumberOf<A>>;
}  // namespace detail

/// An operand with the same element type as A.
template <class B, class A>
concept OperandLike = Operand<B> && std::same_as<ElementOf<A>, ElementOf<B>>;

/// Collective. Sets every element to `value`.
template <Operand A>
rma::Status fill(A&& result, ElementOf<A> value) {
  return detail::Elements<A>::fill(part(result), value);
}
/// Collective. Sets every element to zero.
template <Operand A>
rma::Status zero(A&& result) {
  return detail::Elements<A>::fill(part(result), ElementOf<A>{});
}

/// Collective. Multiplies every element by `alpha`.
template <Operand A>
rma::Status scale(A&& result, ElementOf<A> alpha) {
  return detail::Elements<A>::scale(part(result), alpha);
}

/// Collective. Adds `value` to every element.
template <Operand A>
rma::Status add_constant(A&& result, ElementOf<A> value) {
  return detail::Elements<A>::add_constant(part(result), value);
}

/// Collective. Replaces every element by its absolute value; the most negative integer keeps its
/// value.
template <Operand A>
rma::Status absolute(A&& result) {
  return detail::Elements<A>::absolute(part(result));
}

/// Collective. Replaces every element x by 1 / x. Errors: also invalid_argument for an integer
/// zero, which keeps its value; other elements may be changed then.
template <Operand A>
rma::Status reciprocal(A&& result) {
  return detail::Elements<A>::reciprocal(part(result));
}

/// Collective over the team of `to`. to = from, for any distributions: this is also how an array is
/// redistributed. Requires: if the teams differ, writes to `from` by ranks outside the team of `to`
/// are complete (from.sync()). Cost: one transfer for each pair of overlapping blocks, directly
/// into place; no buffers.
template <Operand A, OperandLike<A> B>
rma::Status copy(const A& from, B&& to) {
  return detail::Elements<A>::copy(part(from), part(to));
}

/// Collective. result = alpha a + beta b.
template <Operand A, OperandLike<A> B, OperandLike<A> C>
rma::Status add(ElementOf<A> alpha, const A& a, ElementOf<A> beta, const B& b, C&& result) {
  return detail::Elements<A>::add(alpha, part(a), beta, part(b), part(result));
}

/// Collective. result = a · b, element by element.
template <Operand A, OperandLike<A> B, OperandLike<A> C>
rma::Status multiply(const A& a, const B& b, C&& result) {
  return detail::Elements<A>::multiply(part(a), part(b), part(result));
}

/// Collective. result = a / b, element by element. Errors: also invalid_argument for an integer
/// division by zero; the result's element keeps its value, and the other elements are computed.
template <Operand A, OperandLike<A> B, OperandLike<A> C>
rma::Status divide(const A& a, const B& b, C&& result) {
  return detail::Elements<A>::divide(part(a), part(b), part(result));
}

/// Collective. result = the larger of a and b, element by element; for complex elements, the one
/// with the larger absolute value. NaN if either is NaN.
template <Operand A, OperandLike<A> B, OperandLike<A> C>
rma::Status maximum(const A& a, const B& b, C&& result) {
  return detail::Elements<A>::maximum(part(a), part(b), part(result));
}
/// Collective. result = the smaller of a and b, element by element, as maximum().
template <Operand A, OperandLike<A> B, OperandLike<A> C>
rma::Status minimum(const A& a, const B& b, C&& result) {
  return detail::Elements<A>::minimum(part(a), part(b), part(result));
}
/// Collective. result = the middle one of a, b and c, element by element, in the order of
/// maximum().
template <Operand A, OperandLike<A> B, OperandLike<A> C, OperandLike<A> D>
rma::Status median(const A& a, const B& b, const C& c, D&& result) {
  return detail::Elements<A>::median(part(a), part(b), part(c), part(result));
}

}  // namespace tessera::arrays
