// SPDX-License-Identifier: BSD-3-Clause
//
// Segmented scans, packing and enumeration of vectors (arrays, or parts of them, of one dimension),
// as data-parallel codes use them for lists and sparse data.
//
//     mask       1  0  0  1  0  1  0        integers; nonzero: a segment begins, or is selected
//     from       5  8  7  3  2  6  9
//     scan_copy  5  5  5  3  3  6  6
//     scan_add   5 13 20  3  5  6 15        exclusive: 0 5 13 0 3 0 6
//     pack       5  3  6
//
// Operands may have any distribution. All functions are collective over the team of the result, and
// begin and end with a synchronisation. Each rank works on an equal part of the vector, twice:
// first for what its part contributes to the later ones, then for the result. Errors: as in
// elementwise.hpp, for scalars and kinds too; invalid_argument for operands that are not vectors, a
// mask that isn't of integers, or a result that is too short; no_memory, after which the result is
// unspecified. Cost: O(length / ranks), buffers of chunk_bytes.
#pragma once

#include <complex>
#include <cstdint>

#include "arrays/chunk_engine.hpp"
#include "arrays/elementwise.hpp"
#include "arrays/subarray.hpp"
#include "rma/base/result.hpp"

namespace tessera::arrays {

enum class ScanKind : std::uint8_t {
  inclusive,  ///< the sum includes the element itself
  exclusive,  ///< the sum has only earlier elements of its segment
};

namespace detail {
/// The implementations, compiled once for each element type.
template <rma::Element T>
struct Scans {
  static rma::Status enumerate(const Subarray<T>& result, T start, T step);
  static rma::Status copy(const Subarray<T>& from, const ChunkOperand& mask, const Subarray<T>& to);
  static rma::Status add(const Subarray<T>& from, const ChunkOperand& mask, const Subarray<T>& to,
                         ScanKind kind);
  static rma::Result<std::int64_t> pack(const Subarray<T>& from, const ChunkOperand& mask,
                                        const Subarray<T>& to);
  static rma::Result<std::int64_t> unpack(const Subarray<T>& from, const ChunkOperand& mask,
                                          const Subarray<T>& to);
};
extern template struct Scans<std::int8_t>;
extern template struct Scans<std::int16_t>;
extern template struct Scans<std::int32_t>;
extern template struct Scans<std::int64_t>;
extern template struct Scans<std::uint8_t>;
extern template struct Scans<std::uint16_t>;
extern template struct Scans<std::uint32_t>;
extern template struct Scans<std::uint64_t>;
extern template struct Scans<float>;
extern template struct Scans<double>;
extern template struct Scans<std::complex<float>>;
extern template struct Scans<std::complex<double>>;

template <Operand A>
using ScansOf = Scans<NumberOf<A>>;
}  // namespace detail

/// Collective. result[i] = start + i · step, with i counted from the part's beginning.
template <Operand A>
rma::Status enumerate(A&& result, ElementOf<A> start, ElementOf<A> step) {
  return detail::ScansOf<A>::enumerate(part(result), start, step);
}

/// Collective. Sets each segment of `to` to the element of `from` at the segment's beginning.
/// Elements before the first segment keep their values.
template <Operand A, Operand Mask, OperandLike<A> B>
rma::Status scan_copy(const A& from, const Mask& mask, B&& to) {
  return detail::ScansOf<A>::copy(part(from), reads(mask), part(to));
}

/// Collective. Running sums within each segment; the elements before the first segment form one
/// too.
template <Operand A, Operand Mask, OperandLike<A> B>
rma::Status scan_add(const A& from, const Mask& mask, B&& to, ScanKind kind = ScanKind::inclusive) {
  return detail::ScansOf<A>::add(part(from), reads(mask), part(to), kind);
}

/// Collective. Copies the elements of `from` with a nonzero mask, contiguously, to the beginning of
/// `to`, which may be shorter or longer than `from`. Returns their number.
template <Operand A, Operand Mask, OperandLike<A> B>
rma::Result<std::int64_t> pack(const A& from, const Mask& mask, B&& to) {
  return detail::ScansOf<A>::pack(part(from), reads(mask), part(to));
}

/// Collective. The inverse of pack(): the first elements of `from` go, in order, to the elements of
/// `to` with a nonzero mask; the others keep their values. Returns the number of elements that
/// moved.
template <Operand A, Operand Mask, OperandLike<A> B>
rma::Result<std::int64_t> unpack(const A& from, const Mask& mask, B&& to) {
  return detail::ScansOf<A>::unpack(part(from), reads(mask), part(to));
}

}  // namespace tessera::arrays
