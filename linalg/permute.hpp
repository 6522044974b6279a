// SPDX-License-Identifier: BSD-3-Clause
//
// permute: a copy of a distributed array, or of a part of one, with its dimensions in another
// order. For a matrix that is transposition.
//
//     permute(in, out, {1, 0});         // out(i, j) = in(j, i)
//     permute(in, out, {2, 0, 1});      // out(k, i, j) = in(i, j, k)
//     transpose(part(a, lower), part(a, upper));          // parts, of one array, too
//     permute(part(t, plane), out, {2, 1});               // a plane of a three-dimensional array
//
// Dimension d of `out` is dimension dims[d] of `in`. Each member fetches the elements for its own
// blocks of `out`, one-sided, while it permutes the previous ones.
//
// Cost: each element is copied twice, or once if it is on the same node. Memory: up to
// TESSERA_LINALG_BUFFER bytes on each member during the call.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <type_traits>

#include "arrays/array.hpp"
#include "arrays/subarray.hpp"
#include "rma/base/status.hpp"

namespace tessera::linalg {

/// A limit of memory in bytes.
struct PermuteOptions {
  std::int64_t buffer_bytes = 0;  ///< replaces TESSERA_LINALG_BUFFER; 0: use that
};

/// In a list of dimensions: a dimension that the other operand lacks.
inline constexpr int no_dim = -1;

/// A part of an array with any element type.
struct PermuteOperand {
  const arrays::ArrayBase& array;
  arrays::Box box;
};

/// Collective over the team of `out`. out = in, with dimension d of `out` being dims[d] of `in`. A
/// dimension in which the box has extent 1 may be no_dim in `out`, or be omitted from `in`.
/// Complete: at return all members see all of `out`; their earlier writes to both are included.
/// Requires: `in` may be on another team, if that has all members of the team of `out`; writes by
/// its other members are complete (sync()). Errors that change nothing: closed, out_of_range,
/// invalid_argument (dims is not an order of the dimensions, extents or element types don't match,
/// boxes share elements, members give different arguments). Errors that leave the elements of `out`
/// unspecified: no_memory, peer_lost.
rma::Status permute(const PermuteOperand& in, const PermuteOperand& out, std::span<const int> dims,
                    const PermuteOptions& options = {});
inline rma::Status permute(const arrays::ArrayBase& in, const arrays::ArrayBase& out,
                           std::span<const int> dims, const PermuteOptions& options = {}) {
  return permute({in, in.box()}, {out, out.box()}, dims, options);
}

/// Collective over the team of `out`. As above, for arrays or parts of them.
template <arrays::Operand In, arrays::Operand Out>
requires std::is_same_v<arrays::ElementOf<Out>, arrays::ElementOf<In>> rma::Status permute(
    const In& in, const Out& out, std::initializer_list<int> dims,
    const PermuteOptions& options = {}) {
  const auto operand = []<class T>(const arrays::Subarray<T>& given) {
    return PermuteOperand{given.array(), given.box()};
  };
  return permute(operand(part(in)), operand(part(out)), std::span(dims.begin(), dims.size()),
                 options);
}

/// Collective over the team of `out`. out(i, j) = in(j, i); as permute().
template <arrays::Operand In, arrays::Operand Out>
rma::Status transpose(const In& in, const Out& out, const PermuteOptions& options = {}) {
  return permute(in, out, {1, 0}, options);
}

}  // namespace tessera::linalg
