// SPDX-License-Identifier: BSD-3-Clause
//
// permute: a distributed array, or a part of one, with its dimensions in another order. Of a matrix
// that is transposing.
//
//     permute(in, out, {1, 0});         // out(i, j) = in(j, i)
//     permute(in, out, {2, 0, 1});      // out(k, i, j) = in(i, j, k)
//     transpose(part(a, lower), part(a, upper));          // parts, of one array, too
//     permute(part(t, plane), out, {2, 1});               // a plane of a three-dimensional array
//
// Dimension d of `out` is dimension dims[d] of `in`. Each member fetches what belongs into its own
// blocks of `out`, one-sided and while it permutes what came before.
//
// Cost: each element is copied twice, or once where it lies on the same node. Memory: up to
// TESSERA_LINALG_BUFFER a member while it lasts.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <type_traits>

#include "arrays/array.hpp"
#include "arrays/part.hpp"
#include "rma/status.hpp"

namespace tessera::linalg {

struct PermuteOptions {
  std::int64_t buffer_bytes = 0;  ///< instead of TESSERA_LINALG_BUFFER; 0: that
};

/// Stands in a list of dimensions for one that the other operand lacks.
inline constexpr int no_dim = -1;

/// A part of an array whose element type nobody asks for.
struct PermuteOperand {
  const arrays::ArrayBase& array;
  arrays::Box box;
};

/// Collective over the team of `out`. out = in with dimension d of `out` being dims[d] of `in`; a
/// dimension in which the box has extent 1 may be no_dim in `out`, or be left out of `in`.
/// Complete: at return all members see all of `out`; what they wrote to both before is seen.
/// Requires: `in` may be on another team that has all members of that of `out`; what others of its
/// members wrote is complete (sync()).
/// Errors: closed, out_of_range, invalid_argument (dims doesn't order the dimensions, extents or
/// element types don't match, boxes that share elements, members that ask for different things):
/// nothing was changed. no_memory, peer_lost: the elements of `out` are unspecified.
rma::Status permute(const PermuteOperand& in, const PermuteOperand& out, std::span<const int> dims,
                    const PermuteOptions& options = {});
inline rma::Status permute(const arrays::ArrayBase& in, const arrays::ArrayBase& out,
                           std::span<const int> dims, const PermuteOptions& options = {}) {
  return permute({in, in.box()}, {out, out.box()}, dims, options);
}

/// Collective over the team of `out`. The same of arrays or parts of them.
template <arrays::Operand In, arrays::Operand Out>
requires std::is_same_v<arrays::ElementOf<Out>, arrays::ElementOf<In>> rma::Status permute(
    const In& in, const Out& out, std::initializer_list<int> dims,
    const PermuteOptions& options = {}) {
  const auto operand = []<class T>(const arrays::Part<T>& given) {
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
