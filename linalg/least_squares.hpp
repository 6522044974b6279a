// SPDX-License-Identifier: BSD-3-Clause
//
// Overdetermined systems of distributed dense matrices.
//
//     least_squares(a, b, x);                          // X with the least ‖A X − B‖
//
// The arrays may be distributed in any ways; method.hpp tells who does the work.
#pragma once

#include "arrays/array.hpp"
#include "linalg/matrix_patch.hpp"
#include "linalg/method.hpp"
#include "rma/status.hpp"

namespace tessera::linalg {

/// Collective over the team of X. X (n × r) with the least ‖A X − B‖ in each column, of A (m × n)
/// with m ≥ n and independent columns; A and B (m × r) stay as they are. By QR.
/// Complete: at return all members see all of X; what they wrote before is seen.
/// Requires: A and B may be on other teams that have all members of X's; what others of their
/// members wrote is complete.
/// Errors: as in factor.hpp; invalid_argument also for extents that don't match, arrays that share
/// elements, and when a column depends on those before it, which is when all but m ε of it, ε being
/// T's, lies in their span: X is as it was. no_memory, peer_lost: X is unspecified.
/// Memory while it lasts, a member: (m n + m r) / ranks elements, and three panels of m × block.
template <Scalar T>
rma::Status least_squares(const MatrixPatch<T>& a, const MatrixPatch<T>& b, const MatrixPatch<T>& x,
                          const MethodOptions& options = {});

/// Collective. The same of whole two-dimensional arrays.
template <Scalar T>
rma::Status least_squares(arrays::Array<T>& a, arrays::Array<T>& b, arrays::Array<T>& x,
                          const MethodOptions& options = {}) {
  return least_squares(MatrixPatch<T>(a), MatrixPatch<T>(b), MatrixPatch<T>(x), options);
}

}  // namespace tessera::linalg
