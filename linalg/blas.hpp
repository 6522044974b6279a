// SPDX-License-Identifier: BSD-3-Clause
//
// The local kernels: BLAS and LAPACK on matrices in this process's memory.
//
// Each routine has one name for float, double and both complex types. A matrix has its own memory
// order: any LocalMatrix that fits_blas() is accepted, and the operands of one call may differ in
// order. Where BLAS has a letter for transposition, pass a transposed() matrix.
//
// The BLAS library counts in 32 bits. Sizes here have 64 bits; a size that doesn't fit is refused
// before anything is changed. Errors of each: limit_exceeded (an extent or stride above 2^31 − 1),
// invalid_argument (extents that don't match, no stride of 1). LAPACK routines also return
// invalid_argument for a matrix that has no such factors, with the row or column where that was
// found.
//
// Threads: any; each call uses the number of threads that blas_threads.hpp chose for the process.
#pragma once

#include <cstdint>
#include <span>

#include "linalg/local_matrix.hpp"
#include "rma/base/status.hpp"

namespace tessera::linalg::blas {

/// The triangle of a matrix that a routine uses; the other one is neither read nor written.
enum class Triangle : std::uint8_t { lower, upper };
enum class Side : std::uint8_t { left, right };
/// Whether the diagonal of a triangular matrix is stored, or consists of ones.
enum class Diagonal : std::uint8_t { stored, unit };

/// An operand: a matrix or its complex conjugate.
template <class T>
struct Operand {
  LocalMatrix<const T> matrix;
  bool is_conjugated = false;
};

/// Local. C = alpha A B + beta C. A is m × k, B is k × n, C is m × n; with beta = 0 C is not read.
template <Scalar T>
rma::Status gemm(T alpha, const Operand<T>& a, const Operand<T>& b, T beta,
                 const LocalMatrix<T>& c);

/// Local. Solves A X = alpha B (left) or X A = alpha B (right); X overwrites B. A is square and
/// triangular.
template <Scalar T>
rma::Status trsm(Side side, Triangle triangle, Diagonal diagonal, T alpha, const Operand<T>& a,
                 const LocalMatrix<T>& b);

/// Local. C = alpha A Aᵀ + beta C, for one triangle of C; A is n × k, C is n × n and symmetric.
template <Scalar T>
rma::Status syrk(Triangle triangle, T alpha, const LocalMatrix<const T>& a, T beta,
                 const LocalMatrix<T>& c);

/// Local. C = alpha A Aᴴ + beta C, for one triangle of C; A is n × k, C is n × n and Hermitian. For
/// real types the same as syrk.
template <Scalar T>
rma::Status herk(Triangle triangle, double alpha, const LocalMatrix<const T>& a, double beta,
                 const LocalMatrix<T>& c);

/// Local. Cholesky: A = L Lᴴ (lower) or Uᴴ U (upper); the factor overwrites that triangle of A.
/// Errors: also invalid_argument if A is not positive definite.
template <Scalar T>
rma::Status potrf(Triangle triangle, const LocalMatrix<T>& a);

/// Local. LU with row exchanges: A = P L U; both factors overwrite A. In step i, from 0, row i was
/// exchanged with row pivots[i]; there are min(rows, columns) steps. Errors: also invalid_argument
/// if a pivot is zero; the factors are complete nevertheless.
template <Scalar T>
rma::Status getrf(const LocalMatrix<T>& a, std::span<std::int32_t> pivots);

}  // namespace tessera::linalg::blas
