// SPDX-License-Identifier: BSD-3-Clause
//
// copy_row_major: elements from one shape to another, in the row-major order of both.
//
//     copy_row_major(a, b);        // a of 6 x 4, b of 3 x 8: b(0, 0…7) = a(0, 0…3), a(1, 0…3)
#pragma once

#include "arrays/elementwise.hpp"
#include "arrays/subarray.hpp"

namespace tessera::arrays {

namespace detail {
rma::Status copy_row_major(const ArrayBase& from, const Box& from_box, const ArrayBase& to,
                           const Box& to_box);
}

/// Collective over the team of `to`. The operands have equal numbers of elements, any numbers of
/// dimensions, and any distributions. Begins and ends with a synchronisation. Errors: as copy();
/// invalid_argument for different numbers of elements, or parts of one array that overlap. Cost: at
/// least one transfer for each row of what a rank owns; a buffer of chunk_bytes.
template <Operand A, OperandLike<A> B>
rma::Status copy_row_major(const A& from, B&& to) {
  return detail::copy_row_major(part(from).array(), part(from).box(), part(to).array(),
                                part(to).box());
}

}  // namespace tessera::arrays
