// SPDX-License-Identifier: BSD-3-Clause
//
// permute: a distributed array with its dimensions in another order. Of a matrix that is
// transposing.
//
//     permute(out, in, {1, 0});         // out(i, j) = in(j, i)
//     permute(out, in, {2, 0, 1});      // out(k, i, j) = in(i, j, k)
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

#include "arrays/array.hpp"
#include "rma/status.hpp"

namespace tessera::linalg {

struct PermuteOptions {
  std::int64_t buffer_bytes = 0;  ///< instead of TESSERA_LINALG_BUFFER; 0: that
};

/// Collective over the team of `out`. out = in with dimension d of `out` being dims[d] of `in`.
/// Complete: at return all members see all of `out`; what they wrote to both before is seen.
/// Requires: `in` may be on another team that has all members of that of `out`; what others of its
/// members wrote is complete (sync()).
/// Errors: closed, invalid_argument (dims is no permutation, extents or element types don't match,
/// the same array twice, members that ask for different things): nothing was changed. no_memory,
/// peer_lost: the elements of `out` are unspecified.
rma::Status permute(arrays::ArrayBase& out, arrays::ArrayBase& in, std::span<const int> dims,
                    const PermuteOptions& options = {});
template <class T>
rma::Status permute(arrays::Array<T>& out, arrays::Array<T>& in, std::initializer_list<int> dims,
                    const PermuteOptions& options = {}) {
  return permute(out, in, std::span(dims.begin(), dims.size()), options);
}

/// Collective over the team of `out`. out(i, j) = in(j, i); as permute().
template <class T>
rma::Status transpose(arrays::Array<T>& out, arrays::Array<T>& in,
                      const PermuteOptions& options = {}) {
  return permute(out, in, {1, 0}, options);
}

}  // namespace tessera::linalg
