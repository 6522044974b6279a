// SPDX-License-Identifier: BSD-3-Clause
//
// permute: a distributed array, or a part of one, with its dimensions in another order. Of a matrix
// that is transposing.
//
//     permute(out, in, {1, 0});         // out(i, j) = in(j, i)
//     permute(out, in, {2, 0, 1});      // out(k, i, j) = in(i, j, k)
//     transpose(part(a, upper), part(a, lower));          // parts, of one array, too
//     permute(out, part(t, plane), {2, 1});               // a plane of a three-dimensional array
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
rma::Status permute(const PermuteOperand& out, const PermuteOperand& in, std::span<const int> dims,
                    const PermuteOptions& options = {});
inline rma::Status permute(const arrays::ArrayBase& out, const arrays::ArrayBase& in,
                           std::span<const int> dims, const PermuteOptions& options = {}) {
  return permute({out, out.box()}, {in, in.box()}, dims, options);
}

/// Collective over the team of `out`. The same of arrays or parts of them.
template <arrays::Operand Out, arrays::Operand In>
requires std::is_same_v<arrays::ElementOf<Out>, arrays::ElementOf<In>> rma::Status permute(
    const Out& out, const In& in, std::initializer_list<int> dims,
    const PermuteOptions& options = {}) {
  const auto operand = []<class T>(const arrays::Part<T>& given) {
    return PermuteOperand{given.array(), given.box()};
  };
  return permute(operand(part(out)), operand(part(in)), std::span(dims.begin(), dims.size()),
                 options);
}

/// Collective over the team of `out`. out(i, j) = in(j, i); as permute(). Mind the order: the
/// result is the first argument, unlike those of arrays::copy(from, to) and GA_Transpose.
template <arrays::Operand Out, arrays::Operand In>
rma::Status transpose(const Out& out, const In& in, const PermuteOptions& options = {}) {
  return permute(out, in, {1, 0}, options);
}

}  // namespace tessera::linalg
