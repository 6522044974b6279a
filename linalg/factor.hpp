// SPDX-License-Identifier: BSD-3-Clause
//
// Factorisations of distributed dense matrices, in place: Cholesky, LU with row exchanges, QR.
//
//     cholesky(a);                                  // A = L Lᴴ, L in the lower triangle
//     const auto pivots = lu(a).value();            // A = P L U
//     const auto tau = qr(a).value();               // A = Q R
//
// What they leave in A is what LAPACK leaves, whoever does the work (method.hpp) and however A is
// distributed; solve.hpp takes it. Right-looking: block after block is factored and applied to what
// lies behind.
//
// Memory while they last, a member: the matrix's size / ranks for a copy in the method's layout,
// none for arrays that have it, and a panel of n × block elements.
//
// Errors of all: closed; invalid_argument (not square where that is asked for, a patch that makes
// no matrix, members that ask for different things), out_of_range, unsupported (ScaLAPACK was asked
// for and isn't possible): nothing was changed. no_memory, peer_lost: A's elements are unspecified.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "linalg/matrix_patch.hpp"
#include "linalg/method.hpp"
#include "rma/result.hpp"

namespace tessera::linalg {

struct CholeskyOptions {
  Triangle triangle = Triangle::lower;
  MethodOptions how = {};
};

/// In step i, from 0, row i was exchanged with row pivots[i].
using Pivots = std::vector<std::int64_t>;

/// Collective over the team of A. A = L Lᴴ or Uᴴ U, of a Hermitian positive definite matrix of
/// which one triangle is read; the factor takes that triangle's place, the other one stays.
/// Complete: at return all members see all of A; what they wrote before is seen.
/// Errors: also invalid_argument when A is not positive definite, with the order of the first
/// leading part that isn't; A's triangle is unspecified then. Cost: n³ / 3 operations.
template <Scalar T>
rma::Status cholesky(const MatrixPatch<T>& a, const CholeskyOptions& options = {});
template <Scalar T>
rma::Status cholesky(arrays::Array<T>& a, const CholeskyOptions& options = {}) {
  return cholesky(MatrixPatch<T>(a), options);
}

/// Collective over the team of A, m × n. A = P L U by partial pivoting; L, whose diagonal is of
/// ones, and U take A's place. Returns min(m, n) pivots, the same on all members. Complete: as
/// cholesky(). Errors: also invalid_argument when a column has no pivot, with its number: A is
/// singular. The factors are complete even so. Cost: 2 n³ / 3 operations for m = n.
template <Scalar T>
rma::Result<Pivots> lu(const MatrixPatch<T>& a, const MethodOptions& options = {});
template <Scalar T>
rma::Result<Pivots> lu(arrays::Array<T>& a, const MethodOptions& options = {}) {
  return lu(MatrixPatch<T>(a), options);
}

/// Collective over the team of A, m × n. A = Q R by Householder reflections: R takes the upper
/// triangle's place, the reflectors that below. Returns the min(m, n) factors of the reflectors,
/// the same on all members. Complete: as cholesky(). Errors: also invalid_argument when an element
/// is not a finite number. Cost: 2 m n² − 2 n³ / 3 operations for m ≥ n.
template <Scalar T>
rma::Result<std::vector<T>> qr(const MatrixPatch<T>& a, const MethodOptions& options = {});
template <Scalar T>
rma::Result<std::vector<T>> qr(arrays::Array<T>& a, const MethodOptions& options = {}) {
  return qr(MatrixPatch<T>(a), options);
}

}  // namespace tessera::linalg
