// SPDX-License-Identifier: BSD-3-Clause
//
// The local kernels: BLAS and LAPACK on matrices in this process's memory, by type.
//
// One name a routine for float, double and both complex types. Memory order is the matrix's own:
// any LocalMatrix that fits_blas() will do, and operands of one call may differ in it. Where BLAS
// has a letter for transposition here stands a transposed() matrix.
//
// The library underneath counts in 32 bits; sizes here are 64 bits, and what doesn't fit is refused
// before anything is touched. Errors of all: limit_exceeded (an extent or stride beyond 2^31 − 1),
// invalid_argument (extents that don't match, no stride of 1). LAPACK's also: invalid_argument for
// a matrix that has no such factors, with the place where that was found.
//
// Threads: any; each call uses as many threads as blas_threads.hpp chose for the process.
#pragma once

#include <cstdint>
#include <span>

#include "linalg/local_matrix.hpp"
#include "rma/status.hpp"

namespace tessera::linalg::blas {

/// Which triangle of a matrix is meant; the other one is neither read nor written.
enum class Triangle : std::uint8_t { lower, upper };
enum class Side : std::uint8_t { left, right };
/// Whether the diagonal of a triangular matrix is stored, or all ones.
enum class Diagonal : std::uint8_t { stored, unit };

/// An operand: a matrix, or its complex conjugate.
template <class T>
struct Operand {
  LocalMatrix<const T> matrix;
  bool is_conjugated = false;
};

/// Local. C = alpha A B + beta C. A is m × k, B is k × n, C is m × n; with beta = 0 C is not read.
template <Scalar T>
rma::Status gemm(T alpha, const Operand<T>& a, const Operand<T>& b, T beta,
                 const LocalMatrix<T>& c);

/// Local. Solves A X = alpha B (left) or X A = alpha B (right) for X, which takes the place of B;
/// A is square and triangular.
template <Scalar T>
rma::Status trsm(Side side, Triangle triangle, Diagonal diagonal, T alpha, const Operand<T>& a,
                 const LocalMatrix<T>& b);

/// Local. C = alpha A Aᵀ + beta C, one triangle of it; A is n × k, C is n × n and symmetric.
template <Scalar T>
rma::Status syrk(Triangle triangle, T alpha, const LocalMatrix<const T>& a, T beta,
                 const LocalMatrix<T>& c);

/// Local. C = alpha A Aᴴ + beta C, one triangle of it; A is n × k, C is n × n and Hermitian. Of
/// real types the same as syrk.
template <Scalar T>
rma::Status herk(Triangle triangle, double alpha, const LocalMatrix<const T>& a, double beta,
                 const LocalMatrix<T>& c);

/// Local. Cholesky: A = L Lᴴ (lower) or Uᴴ U (upper); the factor takes the place of its triangle.
/// Errors: also invalid_argument when A is not positive definite.
template <Scalar T>
rma::Status potrf(Triangle triangle, const LocalMatrix<T>& a);

/// Local. LU with row exchanges: A = P L U; both factors take A's place. `pivots` gets, for each of
/// min(rows, columns) steps, the row that was exchanged with that of the step, from 0.
/// Errors: also invalid_argument when a pivot is zero; the factors are complete even so.
template <Scalar T>
rma::Status getrf(const LocalMatrix<T>& a, std::span<std::int32_t> pivots);

}  // namespace tessera::linalg::blas
