// SPDX-License-Identifier: BSD-3-Clause
//
// Least squares solutions of overdetermined systems of distributed dense matrices.
//
//     least_squares(a, b, x);                          // X that minimises ‖A X − B‖
//
// The arrays may have any distributions; method.hpp describes the methods.
#pragma once

#include "arrays/array.hpp"
#include "linalg/matrix_patch.hpp"
#include "linalg/method.hpp"
#include "rma/base/status.hpp"

namespace tessera::linalg {

/// Collective over the team of X. Computes X (n × r) that minimises ‖A X − B‖ in each column, for A
/// (m × n) with m ≥ n and independent columns, by QR. A and B (m × r) keep their values. Complete:
/// at return all members see all of X; their earlier writes are included. Requires: A and B may be
/// on other teams, if these have all members of X's team; writes by their other members are
/// complete. Errors that leave X unchanged: as in factor.hpp; invalid_argument also for extents
/// that don't match, arrays that share elements, and dependent columns. A column counts as
/// dependent if all of it except a part of relative size m ε is in the span of the columns before
/// it, where ε is the machine epsilon of T. Errors that leave X unspecified: no_memory, peer_lost.
/// Memory on each member during the call: (m n + m r) / ranks elements, and three panels of m ×
/// block.
template <Scalar T>
rma::Status least_squares(const MatrixPatch<T>& a, const MatrixPatch<T>& b, const MatrixPatch<T>& x,
                          const MethodOptions& options = {});

/// Collective. As above, for whole two-dimensional arrays.
template <Scalar T>
rma::Status least_squares(arrays::Array<T>& a, arrays::Array<T>& b, arrays::Array<T>& x,
                          const MethodOptions& options = {}) {
  return least_squares(MatrixPatch<T>(a), MatrixPatch<T>(b), MatrixPatch<T>(x), options);
}

}  // namespace tessera::linalg
