// SPDX-License-Identifier: BSD-3-Clause
//
// Factorisations of distributed dense matrices, in place: Cholesky, LU with row exchanges, QR.
//
//     cholesky(a);                                  // A = L Lᴴ, L in the lower triangle
//     const auto pivots = lu(a).value();            // A = P L U
//     const auto tau = qr(a).value();               // A = Q R
//
// The result in A has LAPACK's format, for any method (method.hpp) and any distribution of A;
// solve.hpp uses it. The algorithms are right-looking: each block is factored and then applied to
// the part of the matrix to its right.
//
// Memory on each member during the call: size of the matrix / ranks for a copy in the method's
// layout, unless the array has that layout, and a panel of n × block elements.
//
// Errors of all that change nothing: closed; invalid_argument (not square if that is needed, a
// patch that is not a matrix, members that give different arguments), out_of_range, unsupported
// (ScaLAPACK was requested and can't be used). Errors that leave A's elements unspecified:
// no_memory, peer_lost.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "linalg/matrix_patch.hpp"
#include "linalg/method.hpp"
#include "rma/base/result.hpp"

namespace tessera::linalg {

/// The triangle of A that is read and overwritten, and the method.
struct CholeskyOptions {
  Triangle triangle = Triangle::lower;
  MethodOptions how = {};
};

/// In step i, from 0, row i was exchanged with row pivots[i].
using Pivots = std::vector<std::int64_t>;

/// Collective over the team of A. A = L Lᴴ or Uᴴ U, for a Hermitian positive definite matrix of
/// which one triangle is read. The factor overwrites that triangle; the other one is unchanged.
/// Complete: at return all members see all of A; their earlier writes are included. Errors: also
/// invalid_argument if A is not positive definite, with the order of the first leading part that
/// isn't; A's triangle is unspecified then. Cost: n³ / 3 operations.
template <Scalar T>
rma::Status cholesky(const MatrixPatch<T>& a, const CholeskyOptions& options = {});
template <Scalar T>
rma::Status cholesky(arrays::Array<T>& a, const CholeskyOptions& options = {}) {
  return cholesky(MatrixPatch<T>(a), options);
}

/// Collective over the team of A, m × n. A = P L U by partial pivoting; L, whose diagonal consists
/// of ones, and U overwrite A. Returns min(m, n) pivots, the same on all members. Complete: as
/// cholesky(). Errors: also invalid_argument if a column has no pivot, with its number: A is
/// singular. The factors are complete nevertheless. Cost: 2 n³ / 3 operations for m = n.
template <Scalar T>
rma::Result<Pivots> lu(const MatrixPatch<T>& a, const MethodOptions& options = {});
template <Scalar T>
rma::Result<Pivots> lu(arrays::Array<T>& a, const MethodOptions& options = {}) {
  return lu(MatrixPatch<T>(a), options);
}

/// Collective over the team of A, m × n. A = Q R by Householder reflections: R overwrites the upper
/// triangle, the reflectors overwrite the part below it. Returns the min(m, n) factors of the
/// reflectors, the same on all members. Complete: as cholesky(). Errors: also invalid_argument if
/// an element is not a finite number. Cost: 2 m n² − 2 n³ / 3 operations for m ≥ n.
template <Scalar T>
rma::Result<std::vector<T>> qr(const MatrixPatch<T>& a, const MethodOptions& options = {});
template <Scalar T>
rma::Result<std::vector<T>> qr(arrays::Array<T>& a, const MethodOptions& options = {}) {
  return qr(MatrixPatch<T>(a), options);
}

}  // namespace tessera::linalg
