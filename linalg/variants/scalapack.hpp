// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. The library ScaLAPACK on working copies: what it computes takes their place.
//
// The matrices of a call lie on one grid of all ranks of their team, in square blocks; at() gives
// them so. Numbers that belong to the whole matrix (pivots, factors of reflectors, values) are the
// same on all members, and counted from 0.
//
// All are collective over the team. Threads: the one that MPI_Init was called from. Errors of all:
// no_memory (of work space), invalid_argument (no convergence), internal (an argument that
// ScaLAPACK refuses). Without the library there is scalapack_absent.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "linalg/detail/matrix_map.hpp"
#include "linalg/detail/work_matrix.hpp"
#include "linalg/lapack.hpp"
#include "linalg/local_matrix.hpp"
#include "linalg/method.hpp"
#include "linalg/variants/factor_by_columns.hpp"
#include "rma/result.hpp"

namespace tessera::linalg::variants::scalapack {

/// Collective. A matrix on a grid of the team, in blocks of `block` (0: by size): the array itself
/// where its own layout will do, `use` allows it, and `block` doesn't ask for another.
rma::Result<detail::WorkMatrix> at(const detail::MatrixMap& map, const rma::Team& team,
                                   std::int64_t block, detail::WorkMatrix::Use use);
/// Collective. A matrix of zeros of these extents on the same grid, with the same blocks.
rma::Result<detail::WorkMatrix> zeros_like(const detail::WorkMatrix& like, std::int64_t rows,
                                           std::int64_t columns);
/// Collective. Another operand of the same call, in the same blocks on the same grid. It may be
/// larger than the matrix: the rest is zero.
rma::Result<detail::WorkMatrix> beside(const detail::WorkMatrix& like, const detail::MatrixMap& map,
                                       detail::WorkMatrix::Use use);

/// What is to be done with a triangular A.
template <Scalar T>
struct Triangular {
  Side side = Side::left;
  Triangle triangle = Triangle::lower;
  Diagonal diagonal = Diagonal::stored;
  char op = 'N';  ///< N, T or C
  T alpha = T{1};
};

/// The routines for matrices of T.
template <Scalar T>
struct Routines {
  /// Collective. As variants::…_by_columns.
  static rma::Result<std::int64_t> cholesky(detail::WorkMatrix& a, Triangle triangle);
  static rma::Result<LuSteps> lu(detail::WorkMatrix& a);
  static rma::Result<std::vector<T>> qr(detail::WorkMatrix& a);

  /// Collective. B = alpha op(A)⁻¹ B or alpha B op(A)⁻¹.
  static rma::Status solve_triangular(const Triangular<T>& how, detail::WorkMatrix& a,
                                      detail::WorkMatrix& b);
  /// Collective. B = op(A)⁻¹ B with the factors of lu().
  static rma::Status solve_lu(detail::WorkMatrix& a, std::span<const std::int64_t> pivots, char op,
                              detail::WorkMatrix& b);
  /// Collective. A = A⁻¹, one triangle, from the factor of cholesky().
  static rma::Status invert_cholesky(detail::WorkMatrix& a, Triangle triangle);
  /// Collective. B = Qᴴ B with what qr() left.
  static rma::Status multiply_by_q_adjoint(detail::WorkMatrix& a, std::span<const T> tau,
                                           detail::WorkMatrix& b);

  /// Collective. Eigenvalues of A from its lower triangle, ascending; A is lost. `vectors`, if any,
  /// gets the eigenvectors as columns.
  static rma::Result<RealValues<T>> eigen(detail::WorkMatrix& a, detail::WorkMatrix* vectors);
  /// Collective. A = L⁻¹ A L⁻ᴴ, the lower triangle, with the lower Cholesky factor in B: the
  /// standard problem that has the eigenvalues of A x = λ B x.
  static rma::Status to_standard(detail::WorkMatrix& a, detail::WorkMatrix& b);

  /// Collective. Singular values of A, descending; A is lost. `u` and `vh`, both or none, get the
  /// vectors.
  static rma::Result<RealValues<T>> svd(detail::WorkMatrix& a, detail::WorkMatrix* u,
                                        detail::WorkMatrix* vh);
};

}  // namespace tessera::linalg::variants::scalapack
