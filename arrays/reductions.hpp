// SPDX-License-Identifier: BSD-3-Clause
//
// Reductions over arrays and parts of them: sums, dot products, norms, and the largest and smallest
// element.
//
//     const double s = dot(a, b).value();
//     const Selected<double> peak = select_max(a).value();      // peak.value, peak.at
//     const double exact = sum(a, {.reproducible = true}).value();
//
// All functions are collective over the team of the first operand, and return the same on all
// members. They begin with a synchronisation, so that they see all earlier writes of other ranks.
// Operands must match as in elementwise.hpp.
//
// A sum adds up the ranks' partial sums. The same operands on the same ranks give the same bits,
// but the last digits depend on the distribution. With ReduceOptions::reproducible the exact sum is
// formed and rounded once (exact_sum.hpp), so that any number of ranks and any distribution give
// the same bits. It takes about ten times as long for data in cache, and little longer for data in
// memory.
//
// Sums have the elements' type. Integers wrap around, so sums of narrow ones may need reduce()
// (transform.hpp) with a wider value. Floats are added as doubles, and rounded once more at the
// end.
//
// Errors of each: as in elementwise.hpp; also invalid_argument for options that differ among
// members. Cost of each: O(own elements), and one allreduce.
#pragma once

#include <complex>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "arrays/elementwise.hpp"
#include "arrays/subarray.hpp"
#include "rma/base/result.hpp"

namespace tessera::arrays {

struct ReduceOptions {
  bool reproducible = false;  ///< the same bits for any number of ranks and any distribution
};

/// An element and its index.
template <class T>
struct Selected {
  T value{};
  Index at;  ///< index in its array
};

namespace detail {
/// The implementations, compiled once for each element type.
template <rma::Element T>
struct Reductions {
  static rma::Result<T> sum(const Subarray<T>& a, const ReduceOptions& options);
  static rma::Result<T> dot(const Subarray<T>& a, const Subarray<T>& b,
                            const ReduceOptions& options);
  static rma::Result<T> dot_conjugated(const Subarray<T>& a, const Subarray<T>& b,
                                       const ReduceOptions& options);
  static rma::Result<double> norm2(const Subarray<T>& a, const ReduceOptions& options);
  static rma::Result<double> norm_max(const Subarray<T>& a);
  static rma::Result<double> norm1(const Subarray<T>& a, const ReduceOptions& options);
  static rma::Result<double> norm_infinity(const Subarray<T>& a, const ReduceOptions& options);
  static rma::Result<Selected<T>> select(const Subarray<T>& a, bool largest);
};
extern template struct Reductions<std::int8_t>;
extern template struct Reductions<std::int16_t>;
extern template struct Reductions<std::int32_t>;
extern template struct Reductions<std::int64_t>;
extern template struct Reductions<std::uint8_t>;
extern template struct Reductions<std::uint16_t>;
extern template struct Reductions<std::uint32_t>;
extern template struct Reductions<std::uint64_t>;
extern template struct Reductions<float>;
extern template struct Reductions<double>;
extern template struct Reductions<std::complex<float>>;
extern template struct Reductions<std::complex<double>>;

template <Operand A>
using ReductionsOf = Reductions<NumberOf<A>>;
}  // namespace detail

/// Collective. The sum of all elements; zero if there are none. Sums of integers are modulo 2^bits
/// of the type.
template <Operand A>
rma::Result<ElementOf<A>> sum(const A& a, const ReduceOptions& options = {}) {
  return detail::ReductionsOf<A>::sum(part(a), options);
}

/// Collective. The sum of all a · b, without conjugation.
template <Operand A, OperandLike<A> B>
rma::Result<ElementOf<A>> dot(const A& a, const B& b, const ReduceOptions& options = {}) {
  return detail::ReductionsOf<A>::dot(part(a), part(b), options);
}
/// Collective. The sum of all conj(a) · b.
template <Operand A, OperandLike<A> B>
rma::Result<ElementOf<A>> dot_conjugated(const A& a, const B& b,
                                         const ReduceOptions& options = {}) {
  return detail::ReductionsOf<A>::dot_conjugated(part(a), part(b), options);
}

/// Collective. The square root of the sum of all |a|², for arrays of any dimension. It doesn't
/// overflow or underflow unless the result does.
template <Operand A>
rma::Result<double> norm2(const A& a, const ReduceOptions& options = {}) {
  return detail::ReductionsOf<A>::norm2(part(a), options);
}
/// Collective. The largest |a|; zero if there are no elements.
template <Operand A>
rma::Result<double> norm_max(const A& a) {
  return detail::ReductionsOf<A>::norm_max(part(a));
}

/// Collective. For a matrix, the largest sum of |a| over a column; for a vector, the sum of all
/// |a|. The parts of a column are added in any order, so the last digits may vary. With
/// ReduceOptions::reproducible they don't; each rank then fetches whole columns. Errors: also
/// invalid_argument for more than two dimensions.
template <Operand A>
rma::Result<double> norm1(const A& a, const ReduceOptions& options = {}) {
  return detail::ReductionsOf<A>::norm1(part(a), options);
}
/// Collective. For a matrix, the largest sum of |a| over a row; for a vector, the largest |a|.
/// Otherwise as norm1.
template <Operand A>
rma::Result<double> norm_infinity(const A& a, const ReduceOptions& options = {}) {
  return detail::ReductionsOf<A>::norm_infinity(part(a), options);
}

/// Collective. The largest element and its index; among complex elements, the one with the largest
/// absolute value. If several are equal, the first in row-major order. NaNs are ignored unless all
/// elements are NaN. Errors: also invalid_argument if there are no elements.
template <Operand A>
rma::Result<Selected<ElementOf<A>>> select_max(const A& a) {
  return detail::ReductionsOf<A>::select(part(a), true);
}
/// Collective. The smallest element, as select_max().
template <Operand A>
rma::Result<Selected<ElementOf<A>>> select_min(const A& a) {
  return detail::ReductionsOf<A>::select(part(a), false);
}

}  // namespace tessera::arrays
