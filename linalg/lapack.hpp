// SPDX-License-Identifier: BSD-3-Clause
//
// More local kernels: LAPACK on column-major matrices in this process's memory, by type.
//
// These return LAPACK's `info`, where potrf and getrf of blas.hpp make a message of it: for callers
// that have a better name for what went wrong. All matrices have row_stride 1.
//
// Errors of all: limit_exceeded (an extent or stride beyond 2^31 − 1), invalid_argument (another
// memory order), no_memory (of LAPACK's work space). Extents have to match and aren't checked.
//
// Threads: any, as in blas.hpp.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "linalg/blas.hpp"
#include "linalg/local_matrix.hpp"
#include "rma/result.hpp"

namespace tessera::linalg {

/// A matrix's eigenvalues or singular values are real. Their type, and a list of them.
using rma::RealOf;
template <Scalar T>
using RealValues = std::vector<RealOf<T>>;

namespace lapack {

/// Local. Cholesky, as blas::potrf. Returns the order of the first leading part that is not
/// positive definite, 0 when all are.
template <Scalar T>
rma::Result<std::int64_t> cholesky(blas::Triangle triangle, const LocalMatrix<T>& a);

/// Local. LU, as blas::getrf. Returns 1 + the first column without a pivot, 0 when all have one.
template <Scalar T>
rma::Result<std::int64_t> lu(const LocalMatrix<T>& a, std::span<std::int32_t> pivots);

/// Local. A = Q R: R takes the upper triangle's place, the reflectors of which Q is the product
/// that below; `tau` gets a factor for each of min(rows, columns) reflectors.
template <Scalar T>
rma::Status qr(const LocalMatrix<T>& a, std::span<T> tau);

/// Local. C = Q C or, for `is_adjoint`, Qᴴ C, with the reflectors in `v` below its diagonal. `v` is
/// written to meanwhile, and is as before at return: nobody else may read it.
template <Scalar T>
rma::Status multiply_by_q(const LocalMatrix<T>& v, std::span<const T> tau, bool is_adjoint,
                          const LocalMatrix<T>& c);

/// Local. The eigenvalues of a Hermitian matrix, ascending, from its lower triangle. Eigenvectors
/// take A's place where they are wanted, else A is lost. Errors: invalid_argument without
/// convergence.
template <Scalar T>
rma::Status eigen(bool wants_vectors, const LocalMatrix<T>& a, std::span<RealOf<T>> values);

/// Local. The same of A x = λ B x with B positive definite, whose factor takes B's place. Returns
/// the order of the first leading part of B that is not positive definite, 0 when all are.
template <Scalar T>
rma::Result<std::int64_t> eigen_generalised(bool wants_vectors, const LocalMatrix<T>& a,
                                            const LocalMatrix<T>& b, std::span<RealOf<T>> values);

/// Local. Singular values of A (m × n), descending; A is lost. Unless U has no columns, it gets the
/// first k = min(m, n) left singular vectors (m × k) and `vh` the right ones, conjugated, as rows
/// (k × n).
template <Scalar T>
rma::Status svd(const LocalMatrix<T>& a, std::span<RealOf<T>> values, const LocalMatrix<T>& u,
                const LocalMatrix<T>& vh);

}  // namespace lapack
}  // namespace tessera::linalg
