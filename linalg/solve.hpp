// SPDX-License-Identifier: BSD-3-Clause
//
// Linear systems of distributed dense matrices.
//
//     solve(a, b);                                     // B becomes X with A X = B; A is kept
//     solve_positive_definite(a, b);
//
//     cholesky(a);  solve_cholesky(a, b);  …           // factored once, solved often
//     const auto pivots = lu(a).value();  solve_lu(a, pivots, b);
//
// B has one column for each right-hand side; X overwrites it. The arrays may have any
// distributions; method.hpp describes the methods.
//
// All functions are collective over the team of B (or of A if there is no B). Requires: other
// arrays may be on other teams, if these have all members of that team; writes by their other
// members are complete. Complete: at return all members see all of the result; their earlier writes
// are included.
//
// Memory on each member during the call: size / ranks for each array that is copied (method.hpp),
// and for A in functions that keep it; two panels of n × block elements.
//
// Errors of each: as in factor.hpp; invalid_argument also for extents that don't match, arrays that
// share elements, and singular matrices. The message for a singular matrix gives the column; B is
// unspecified then.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <type_traits>

#include "linalg/factor.hpp"
#include "linalg/gemm.hpp"
#include "linalg/matrix_patch.hpp"
#include "linalg/method.hpp"
#include "rma/base/status.hpp"

namespace tessera::linalg {

/// Side of A in the equation, triangle, operation and diagonal of A, factor alpha, and method.
template <Scalar T>
struct TriangularOptions {
  Side side = Side::left;
  Triangle triangle = Triangle::lower;
  MatrixOp op = MatrixOp::none;
  Diagonal diagonal = Diagonal::stored;
  T alpha = T{1};
  MethodOptions how = {};
};

/// Collective. Solves op(A) X = alpha B (left) or X op(A) = alpha B (right) with a triangular A;
/// the other triangle is not read. Cost: n² operations for each right-hand side.
template <Scalar T>
rma::Status solve_triangular(const MatrixPatch<T>& a, const MatrixPatch<T>& b,
                             const std::type_identity_t<TriangularOptions<T>>& options = {});

/// op(A), and the method.
struct LuSolveOptions {
  MatrixOp op = MatrixOp::none;
  MethodOptions how = {};
};
/// Collective. Solves op(A) X = B with the result of lu() in A, and its pivots.
template <Scalar T>
rma::Status solve_lu(const MatrixPatch<T>& a, std::span<const std::int64_t> pivots,
                     const MatrixPatch<T>& b, const LuSolveOptions& options = {});

/// Collective. Solves A X = B with the result of cholesky() in the same triangle of A (GA's
/// llt_solve).
template <Scalar T>
rma::Status solve_cholesky(const MatrixPatch<T>& a, const MatrixPatch<T>& b,
                           const CholeskyOptions& options = {});

/// Collective. Solves A X = B with a square A, which keeps its values. By LU.
template <Scalar T>
rma::Status solve(const MatrixPatch<T>& a, const MatrixPatch<T>& b,
                  const MethodOptions& options = {});

/// Collective. Solves A X = B with a Hermitian positive definite A, of which one triangle is read,
/// and which keeps its values. By Cholesky.
template <Scalar T>
rma::Status solve_positive_definite(const MatrixPatch<T>& a, const MatrixPatch<T>& b,
                                    const CholeskyOptions& options = {});

/// Collective over the team of A. Overwrites A with A⁻¹, all of it, for a Hermitian positive
/// definite A of which one triangle is read (GA's spd_invert).
template <Scalar T>
rma::Status invert_positive_definite(const MatrixPatch<T>& a, const CholeskyOptions& options = {});

/// Collective. As above, for whole two-dimensional arrays.
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
