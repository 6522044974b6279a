// SPDX-License-Identifier: BSD-3-Clause
//
// Eigenvalues and eigenvectors of distributed symmetric and Hermitian matrices.
//
//     const auto values = eigenvalues(a).value();             // ascending, the same on all members
//     const auto values = eigen(a, vectors).value();          // A v = λ v, v a column of `vectors`
//     const auto values = eigen_generalised(a, b, vectors);   // A v = λ B v, B positive definite
//
// Of A and B the lower triangle is read; both stay as they are. Eigenvectors have length 1, those
// of the generalised problem vᴴ B v = 1.
//
// ScaLAPACK does the work where it is possible (method.hpp): a member takes the size / ranks of
// each of A, B and the vectors, and work space of about the same. Elsewhere the matrices are
// gathered on the team's first member, and LAPACK computes there: that member takes 3 n² elements,
// 4 n² for the generalised problem, and what is more than `most_bytes` is refused. There is no
// distributed method of our own.
//
// All are collective over the team of `vectors`, or of A where there are none. Requires: A and B
// may be on other teams that have all members of that one; what others of their members wrote is
// complete. Complete: at return all members see the vectors; what they wrote before is seen.
//
// Errors of all: closed; invalid_argument (not square, extents that don't match, arrays that share
// elements, members that ask for different things, elements that are read and aren't finite
// numbers), out_of_range, unsupported (ScaLAPACK was asked for and isn't possible), limit_exceeded
// (too large to be gathered): nothing was changed. invalid_argument (no convergence, B is not
// positive definite), no_memory, peer_lost: the vectors are unspecified.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "linalg/lapack.hpp"
#include "linalg/matrix_patch.hpp"
#include "linalg/method.hpp"
#include "rma/result.hpp"

namespace tessera::linalg {

struct EigenOptions {
  MethodOptions how = {};                           ///< own: gathered
  std::int64_t most_bytes = std::int64_t{1} << 30;  ///< that a gathered problem may take
};

/// Collective. The eigenvalues of A alone.
template <Scalar T>
rma::Result<RealValues<T>> eigenvalues(const MatrixPatch<T>& a, const EigenOptions& options = {});
/// Collective. Eigenvalues, and eigenvectors as the columns of `vectors` (n × n).
template <Scalar T>
rma::Result<RealValues<T>> eigen(const MatrixPatch<T>& a, const MatrixPatch<T>& vectors,
                                 const EigenOptions& options = {});

/// Collective. The same of A v = λ B v.
template <Scalar T>
rma::Result<RealValues<T>> eigenvalues_generalised(const MatrixPatch<T>& a, const MatrixPatch<T>& b,
                                                   const EigenOptions& options = {});
template <Scalar T>
rma::Result<RealValues<T>> eigen_generalised(const MatrixPatch<T>& a, const MatrixPatch<T>& b,
                                             const MatrixPatch<T>& vectors,
                                             const EigenOptions& options = {});

/// Collective. The same of whole two-dimensional arrays.
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
