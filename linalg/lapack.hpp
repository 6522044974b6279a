// SPDX-License-Identifier: BSD-3-Clause
//
// More local kernels: LAPACK on column-major matrices in this process's memory, by type.
//
// These functions return LAPACK's `info`, of which potrf and getrf of blas.hpp make a message; they
// are for callers that write a better one. All matrices have row_stride 1.
//
// Errors of each: limit_exceeded (an extent or stride above 2^31 − 1), invalid_argument (another
// memory order), no_memory (for LAPACK's work space). Extents must match; they aren't checked.
//
// Threads: any, as in blas.hpp.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "linalg/blas.hpp"
#include "linalg/local_matrix.hpp"
#include "rma/base/result.hpp"

namespace tessera::linalg {

/// The type of a matrix's eigenvalues or singular values, which are real, and a list of them.
using rma::RealOf;
template <Scalar T>
using RealValues = std::vector<RealOf<T>>;

namespace lapack {

/// Local. Cholesky, as blas::potrf. Returns the order of the first leading part that is not
/// positive definite, or 0 if all are.
template <Scalar T>
rma::Result<std::int64_t> cholesky(blas::Triangle triangle, const LocalMatrix<T>& a);

/// Local. LU, as blas::getrf. Returns 1 + the first column without a pivot, or 0 if all have one.
template <Scalar T>
rma::Result<std::int64_t> lu(const LocalMatrix<T>& a, std::span<std::int32_t> pivots);

/// Local. A = Q R: R overwrites the upper triangle, and the reflectors, whose product is Q, the
/// part below it. `tau` gets a factor for each of min(rows, columns) reflectors.
template <Scalar T>
rma::Status qr(const LocalMatrix<T>& a, std::span<T> tau);

/// Local. C = Q C or, if `is_adjoint`, C = Qᴴ C, with the reflectors in `v` below its diagonal. `v`
/// is changed during the call and restored at return: no other thread may read it.
template <Scalar T>
rma::Status multiply_by_q(const LocalMatrix<T>& v, std::span<const T> tau, bool is_adjoint,
                          const LocalMatrix<T>& c);

/// Local. The eigenvalues of a Hermitian matrix, ascending, from its lower triangle. If
/// `wants_vectors`, the eigenvectors overwrite A, else A is destroyed. Errors: invalid_argument if
/// the method does not converge.
template <Scalar T>
rma::Status eigen(bool wants_vectors, const LocalMatrix<T>& a, std::span<RealOf<T>> values);

/// Local. As eigen(), for A x = λ B x with B positive definite; B's factor overwrites B. Returns
/// the order of the first leading part of B that is not positive definite, or 0 if all are.
template <Scalar T>
rma::Result<std::int64_t> eigen_generalised(bool wants_vectors, const LocalMatrix<T>& a,
                                            const LocalMatrix<T>& b, std::span<RealOf<T>> values);

/// Local. Singular values of A (m × n), descending; A is destroyed. If U has columns, it gets the
/// first k = min(m, n) left singular vectors (m × k), and `vh` the right ones, conjugated, as rows
/// (k × n).
template <Scalar T>
rma::Status svd(const LocalMatrix<T>& a, std::span<RealOf<T>> values, const LocalMatrix<T>& u,
                const LocalMatrix<T>& vh);

}  // namespace lapack
}  // namespace tessera::linalg
