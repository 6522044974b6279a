// SPDX-License-Identifier: BSD-3-Clause
//
// Linear systems of distributed dense matrices.
//
//     solve(a, b);                                     // B becomes X of A X = B; A stays
//     solve_positive_definite(a, b);
//
//     cholesky(a);  solve_cholesky(a, b);  …           // factored once, solved often
//     const auto pivots = lu(a).value();  solve_lu(a, pivots, b);
//
// B has a column for each right side, and its place is taken by X. The arrays may be distributed in
// any ways; method.hpp tells who does the work.
//
// All are collective over the team of B (of A where there is no B). Requires: other arrays may be
// on other teams that have all members of that one; what others of their members wrote is complete.
// Complete: at return all members see all of the result; what they wrote before is seen.
//
// Memory while they last, a member: the size / ranks of each array that is copied (method.hpp), and
// of A for those that keep it; two panels of n × block elements.
//
// Errors of all: as in factor.hpp; invalid_argument also for extents that don't match, arrays that
// share elements, and singular matrices, with the place where that was found: B is unspecified.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <type_traits>

#include "linalg/factor.hpp"
#include "linalg/gemm.hpp"
#include "linalg/matrix_patch.hpp"
#include "linalg/method.hpp"
#include "rma/status.hpp"

namespace tessera::linalg {

template <Scalar T>
struct TriangularOptions {
  Side side = Side::left;
  Triangle triangle = Triangle::lower;
  MatrixOp op = MatrixOp::none;
  Diagonal diagonal = Diagonal::stored;
  T alpha = T{1};
  MethodOptions how = {};
};

/// Collective. op(A) X = alpha B (left) or X op(A) = alpha B (right) for X, of a triangular A; the
/// other triangle is not read. Cost: n² operations a right side.
template <Scalar T>
rma::Status solve_triangular(const MatrixPatch<T>& a, const MatrixPatch<T>& b,
                             const std::type_identity_t<TriangularOptions<T>>& options = {});

struct LuSolveOptions {
  MatrixOp op = MatrixOp::none;
  MethodOptions how = {};
};
/// Collective. op(A) X = B with what lu() left in A, and its pivots.
template <Scalar T>
rma::Status solve_lu(const MatrixPatch<T>& a, std::span<const std::int64_t> pivots,
                     const MatrixPatch<T>& b, const LuSolveOptions& options = {});

/// Collective. A X = B with what cholesky() left in the same triangle of A (GA's llt_solve).
template <Scalar T>
rma::Status solve_cholesky(const MatrixPatch<T>& a, const MatrixPatch<T>& b,
                           const CholeskyOptions& options = {});

/// Collective. A X = B of a square A, which stays as it is. By LU.
template <Scalar T>
rma::Status solve(const MatrixPatch<T>& a, const MatrixPatch<T>& b,
                  const MethodOptions& options = {});

/// Collective. A X = B of a Hermitian positive definite A, of which one triangle is read, and which
/// stays as it is. By Cholesky.
template <Scalar T>
rma::Status solve_positive_definite(const MatrixPatch<T>& a, const MatrixPatch<T>& b,
                                    const CholeskyOptions& options = {});

/// Collective over the team of A. A becomes A⁻¹, all of it, of a Hermitian positive definite A of
/// which one triangle is read (GA's spd_invert).
template <Scalar T>
rma::Status invert_positive_definite(const MatrixPatch<T>& a, const CholeskyOptions& options = {});

/// Collective. The same of whole two-dimensional arrays.
template <Scalar T>
rma::Status solve_triangular(arrays::Array<T>& a, arrays::Array<T>& b,
                             const std::type_identity_t<TriangularOptions<T>>& options = {}) {
  return solve_triangular(MatrixPatch<T>(a), MatrixPatch<T>(b), options);
}
template <Scalar T>
rma::Status solve_lu(arrays::Array<T>& a, std::span<const std::int64_t> pivots, arrays::Array<T>& b,
                     const LuSolveOptions& options = {}) {
  return solve_lu(MatrixPatch<T>(a), pivots, MatrixPatch<T>(b), options);
}
template <Scalar T>
rma::Status solve_cholesky(arrays::Array<T>& a, arrays::Array<T>& b,
                           const CholeskyOptions& options = {}) {
  return solve_cholesky(MatrixPatch<T>(a), MatrixPatch<T>(b), options);
}
template <Scalar T>
rma::Status solve(arrays::Array<T>& a, arrays::Array<T>& b, const MethodOptions& options = {}) {
  return solve(MatrixPatch<T>(a), MatrixPatch<T>(b), options);
}
template <Scalar T>
rma::Status solve_positive_definite(arrays::Array<T>& a, arrays::Array<T>& b,
                                    const CholeskyOptions& options = {}) {
  return solve_positive_definite(MatrixPatch<T>(a), MatrixPatch<T>(b), options);
}
template <Scalar T>
rma::Status invert_positive_definite(arrays::Array<T>& a, const CholeskyOptions& options = {}) {
  return invert_positive_definite(MatrixPatch<T>(a), options);
}

}  // namespace tessera::linalg
