// SPDX-License-Identifier: BSD-3-Clause
//
// Eigenvalues and eigenvectors of distributed symmetric and Hermitian matrices.
//
//     const auto values = eigenvalues(a).value();             // ascending, the same on all members
//     const auto values = eigen(a, vectors).value();          // A v = λ v, v a column of `vectors`
//     const auto values = eigen_generalised(a, b, vectors);   // A v = λ B v, B positive definite
//
// Only the lower triangles of A and B are read; both matrices keep their values. Eigenvectors have
// length 1; those of the generalised problem have vᴴ B v = 1.
//
// ScaLAPACK is used if it is available (method.hpp). A member then takes size / ranks for each of
// A, B and the vectors, and about the same for work space. Otherwise the matrices are gathered on
// the team's first member, which calls LAPACK. That member takes 3 n² elements, or 4 n² for the
// generalised problem; a problem that takes more than `max_bytes` is refused. Tessera has no
// distributed method of its own.
//
// All functions are collective over the team of `vectors`, or of A if there are no vectors.
// Requires: A and B may be on other teams, if these have all members of that team; writes by their
// other members are complete. Complete: at return all members see the vectors; their earlier writes
// are included.
//
// Errors of all that change nothing: closed; invalid_argument (not square, extents that don't
// match, arrays that share elements, members that give different arguments, elements that are read
// and aren't finite numbers), out_of_range, unsupported (ScaLAPACK was requested and can't be
// used), limit_exceeded (too large to be gathered). Errors that leave the vectors unspecified:
// invalid_argument (no convergence, or B is not positive definite), no_memory, peer_lost.
//
// Cost: O(n³) operations.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "linalg/lapack.hpp"
#include "linalg/matrix_patch.hpp"
#include "linalg/method.hpp"
#include "rma/base/result.hpp"

namespace tessera::linalg {

/// The method, and a limit for problems that are gathered on one rank, in bytes.
struct EigenOptions {
  MethodOptions how = {};                          ///< Method::own: gathered
  std::int64_t max_bytes = std::int64_t{1} << 30;  ///< limit for a gathered problem
};

/// Collective. The eigenvalues of A, ascending, without eigenvectors.
template <Scalar T>
rma::Result<RealValues<T>> eigenvalues(const MatrixPatch<T>& a, const EigenOptions& options = {});
/// Collective. The eigenvalues, ascending, and the eigenvectors as the columns of `vectors` (n ×
/// n).
template <Scalar T>
rma::Result<RealValues<T>> eigen(const MatrixPatch<T>& a, const MatrixPatch<T>& vectors,
                                 const EigenOptions& options = {});

/// Collective. As eigenvalues() and eigen(), for the generalised problem A v = λ B v.
template <Scalar T>
rma::Result<RealValues<T>> eigenvalues_generalised(const MatrixPatch<T>& a, const MatrixPatch<T>& b,
                                                   const EigenOptions& options = {});
template <Scalar T>
rma::Result<RealValues<T>> eigen_generalised(const MatrixPatch<T>& a, const MatrixPatch<T>& b,
                                             const MatrixPatch<T>& vectors,
                                             const EigenOptions& options = {});

/// Collective. As above, for whole two-dimensional arrays.
template <Scalar T>
rma::Result<RealValues<T>> eigenvalues(arrays::Array<T>& a, const EigenOptions& options = {}) {
  return eigenvalues(MatrixPatch<T>(a), options);
}
template <Scalar T>
rma::Result<RealValues<T>> eigen(arrays::Array<T>& a, arrays::Array<T>& vectors,
                                 const EigenOptions& options = {}) {
  return eigen(MatrixPatch<T>(a), MatrixPatch<T>(vectors), options);
}
template <Scalar T>
rma::Result<RealValues<T>> eigenvalues_generalised(arrays::Array<T>& a, arrays::Array<T>& b,
                                                   const EigenOptions& options = {}) {
  return eigenvalues_generalised(MatrixPatch<T>(a), MatrixPatch<T>(b), options);
}
template <Scalar T>
rma::Result<RealValues<T>> eigen_generalised(arrays::Array<T>& a, arrays::Array<T>& b,
                                             arrays::Array<T>& vectors,
                                             const EigenOptions& options = {}) {
  return eigen_generalised(MatrixPatch<T>(a), MatrixPatch<T>(b), MatrixPatch<T>(vectors), options);
}

}  // namespace tessera::linalg
