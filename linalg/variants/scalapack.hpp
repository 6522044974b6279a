// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. The library ScaLAPACK on work copies, which it overwrites with its results.
//
// The matrices of a call are on one grid of all ranks of their team, in square blocks; at() makes
// them so. Numbers that belong to the whole matrix (pivots, factors of reflectors, values) are the
// same on all members, and are counted from 0.
//
// All functions are collective over the team. Threads: the one that called MPI_Init. Errors of
// each: no_memory (for work space), invalid_argument (no convergence), internal (ScaLAPACK refuses
// an argument). scalapack_absent.cpp replaces this in builds without ScaLAPACK.
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
#include "rma/base/result.hpp"

namespace tessera::linalg::variants::scalapack {

/// Collective. A matrix on a grid of the team, in blocks of `block` (0: chosen by size). It is the
/// array itself, if its layout is suitable, `use` allows it, and `block` doesn't request another
/// size.
rma::Result<detail::WorkMatrix> at(const detail::MatrixMap& map, const rma::Team& team,
                                   std::int64_t block, detail::WorkMatrix::Use use);
/// Collective. A matrix of zeros with these extents on the same grid, with the same blocks.
rma::Result<detail::WorkMatrix> zeros_like(const detail::WorkMatrix& like, std::int64_t rows,
                                           std::int64_t columns);
/// Collective. Another operand of the same call, in the same blocks on the same grid. It may be
/// larger than the matrix; the rest is zero.
rma::Result<detail::WorkMatrix> beside(const detail::WorkMatrix& like, const detail::MatrixMap& map,
                                       detail::WorkMatrix::Use use);

/// A task with a triangular A.
template <Scalar T>
struct Triangular {
  Side side = Side::left;
  Triangle triangle = Triangle::lower;
  Diagonal diagonal = Diagonal::stored;
  char op = 'N';  ///< 'N', 'T' or 'C'
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
  /// Collective. B = Qᴴ B with the result of qr().
  static rma::Status multiply_by_q_adjoint(detail::WorkMatrix& a, std::span<const T> tau,
                                           detail::WorkMatrix& b);

  /// Collective. Eigenvalues of A from its lower triangle, ascending; A is destroyed. `vectors`, if
  /// not null, gets the eigenvectors as columns.
  static rma::Result<RealValues<T>> eigen(detail::WorkMatrix& a, detail::WorkMatrix* vectors);
  /// Collective. A = L⁻¹ A L⁻ᴴ, the lower triangle, where B has the lower Cholesky factor L: the
  /// standard problem with the eigenvalues of A x = λ B x.
  static rma::Status to_standard(detail::WorkMatrix& a, detail::WorkMatrix& b);

  /// Collective. Singular values of A, descending; A is destroyed. `u` and `vh`, both or none, get
  /// the vectors.
  static rma::Result<RealValues<T>> svd(detail::WorkMatrix& a, detail::WorkMatrix* u,
                                        detail::WorkMatrix* vh);
};

}  // namespace tessera::linalg::variants::scalapack
