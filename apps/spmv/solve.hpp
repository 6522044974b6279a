// SPDX-License-Identifier: BSD-3-Clause
//
// Linear systems A x = b with sparse A by Krylov methods, on distributed vectors:
//
//     cg         conjugate gradients (Hestenes, Stiefel 1952), for A that is symmetric or Hermitian
//                and positive definite
//     bicgstab   stabilised biconjugate gradients (van der Vorst 1992), for any A
//
// bicgstab restarts from the current residual if it breaks down, a few times, if a step was done
// since. Systems are scaled by powers of two, which change no digit, so that squares neither
// underflow nor overflow if A, b and x do not.
//
// Both are optionally preconditioned by the diagonal of A. They update a carried residual, which
// rounding errors separate from the true one. The true residual is computed at the end and decides.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "arrays/array.hpp"
#include "linalg/csr.hpp"
#include "linalg/spmv.hpp"
#include "rma/base/result.hpp"

namespace tessera::apps::spmv {

enum class Method : std::uint8_t { cg, bicgstab };

struct SolveOptions {
  Method method = Method::cg;
  double tolerance = 1e-8;  ///< of |b − A x| / |b|
  std::int64_t max_iterations = 0;
  bool jacobi = false;  ///< precondition by the diagonal
  /// Called after each iteration, with the carried residual.
  std::function<void(std::int64_t iteration, double residual)> progress = {};
};

/// The same on all ranks.
struct SolveResult {
  std::int64_t iterations = 0;
  int restarts = 0;             ///< of bicgstab, after a divisor that was only roundings
  double carried_residual = 0;  ///< |r| / |b| of the carried residual
  double true_residual = 0;     ///< |b − A x| / |b|
  bool has_converged = false;   ///< by the carried residual
  /// Why the solver could not continue, or why the solution is wrong although it converged.
  std::string failure;
};

/// Whether the true residual is close enough: it may be a little larger than the carried one.
bool is_accurate(const SolveResult& result, double tolerance) noexcept;

/// Collective. Improves x, an initial guess, until the carried residual is small enough. Vectors
/// have the distribution matrix.row_distribution(), and `plan` is for such vectors. Errors:
/// invalid_argument for a zero on the diagonal with `jacobi`; those of products.
template <class T>
rma::Result<SolveResult> solve(linalg::SparseMatrix<T>& matrix, linalg::SpmvPlan<T>& plan,
                               arrays::Array<T>& b, arrays::Array<T>& x,
                               const SolveOptions& options);

}  // namespace tessera::apps::spmv
