// SPDX-License-Identifier: BSD-3-Clause
//
// Segmented scans, packing and enumeration of vectors (arrays, or parts, of one dimension), as data
// parallel codes use them for lists and sparse data.
//
//     mask       1  0  0  1  0  1  0        any integers; not 0 begins a segment, or selects
//     from       5  8  7  3  2  6  9
//     scan_copy  5  5  5  3  3  6  6
//     scan_add   5 13 20  3  5  6 15        exclusive: 0 5 13 0 3 0 6
//     pack       5  3  6
//
// Operands are distributed as they like. All are collective over the team of the result, and begin
// and end with a synchronisation. Each rank works on an equal part of the vector, twice: once for
// what it means to those behind, then for the result.
// Errors: as in elementwise.hpp, for scalars and kinds too; invalid_argument for other than
// vectors, a mask that isn't of integers, or a result that is too short; no_memory, and the result
// is unspecified. Cost: O(length / ranks), buffers of chunk_bytes.
#pragma once

#include <complex>
#include <cstdint>

#include "arrays/chunks.hpp"
#include "arrays/elementwise.hpp"
#include "arrays/part.hpp"
#include "rma/result.hpp"

namespace tessera::arrays {

enum class ScanKind : std::uint8_t {
  inclusive,  ///< the element itself is part of its sum
  exclusive,  ///< only those before it in its segment
};

namespace detail {
/// The bodies, compiled once for each element type.
template <rma::Element T>
struct Scans {
  static rma::Status enumerate(const Part<T>& result, T start, T step);
  static rma::Status copy(const Part<T>& from, const ChunkOperand& mask, const Part<T>& to);
  static rma::Status add(const Part<T>& from, const ChunkOperand& mask, const Part<T>& to,
                         ScanKind kind);
  static rma::Result<std::int64_t> pack(const Part<T>& from, const ChunkOperand& mask,
                                        const Part<T>& to);
  static rma::Result<std::int64_t> unpack(const Part<T>& from, const ChunkOperand& mask,
                                          const Part<T>& to);
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

/// Collective. result[i] = start + i · step, i counted from the part's beginning.
template <Operand A>
rma::Status enumerate(A&& result, ElementOf<A> start, ElementOf<A> step) {
  return detail::ScansOf<A>::enumerate(part(result), start, step);
}

/// Collective. Each segment of `to` becomes the element of `from` at its beginning. Elements before
/// the first segment keep their values.
template <Operand A, Operand Mask, OperandLike<A> B>
rma::Status scan_copy(const A& from, const Mask& mask, B&& to) {
  return detail::ScansOf<A>::copy(part(from), reads(mask), part(to));
}

/// Collective. Running sums within each segment; what lies before the first segment is one, too.
template <Operand A, Operand Mask, OperandLike<A> B>
rma::Status scan_add(const A& from, const Mask& mask, B&& to, ScanKind kind = ScanKind::inclusive) {
  return detail::ScansOf<A>::add(part(from), reads(mask), part(to), kind);
}

/// Collective. The elements of `from` whose mask is not 0, one after the other, to the beginning of
/// `to`, which may be shorter or longer than `from`. Returns their number.
template <Operand A, Operand Mask, OperandLike<A> B>
rma::Result<std::int64_t> pack(const A& from, const Mask& mask, B&& to) {
  return detail::ScansOf<A>::pack(part(from), reads(mask), part(to));
}

/// Collective. The opposite: the first elements of `from` go, in order, to where the mask of `to`
/// is not 0; the others keep their values. Returns the number of elements that moved.
template <Operand A, Operand Mask, OperandLike<A> B>
rma::Result<std::int64_t> unpack(const A& from, const Mask& mask, B&& to) {
  return detail::ScansOf<A>::unpack(part(from), reads(mask), part(to));
}

}  // namespace tessera::arrays
