// SPDX-License-Identifier: BSD-3-Clause
//
// The singular value decomposition of distributed matrices: A = U Σ Vᴴ.
//
//     const auto values = singular_values(a).value();     // descending, the same on all members
//     const auto values = svd(a, u, vh).value();          // U is m × k, Vᴴ is k × n, k = min(m, n)
//
// A keeps its values. Methods, memory, teams and errors are as in eigen.hpp. If ScaLAPACK can't be
// used, A is gathered on the team's first member, which takes m n + (m + n) k + 5 k² elements.
#pragma once

#include <complex>
#include <vector>

#include "linalg/eigen.hpp"
#include "linalg/lapack.hpp"
#include "linalg/matrix_patch.hpp"
#include "rma/base/result.hpp"

namespace tessera::linalg {

/// Collective over the team of A. The min(m, n) singular values, descending, without vectors.
template <Scalar T>
rma::Result<RealValues<T>> singular_values(const MatrixPatch<T>& a,
                                           const EigenOptions& options = {});
/// Collective over the team of U, which must also be that of Vᴴ. The singular values, the left
/// vectors as the columns of `u`, and the right ones, conjugated, as the rows of `vh`.
template <Scalar T>
rma::Result<RealValues<T>> svd(const MatrixPatch<T>& a, const MatrixPatch<T>& u,
                               const MatrixPatch<T>& vh, const EigenOptions& options = {});

/// Collective. As above, for whole two-dimensional arrays.
template <Scalar T>
rma::Result<RealValues<T>> singular_values(arrays::Array<T>& a, const EigenOptions& options = {}) {
  return singular_values(MatrixPatch<T>(a), options);
}
template <Scalar T>
rma::Result<RealValues<T>> svd(arrays::Array<T>& a, arrays::Array<T>& u, arrays::Array<T>& vh,
                               const EigenOptions& options = {}) {
  return svd(MatrixPatch<T>(a), MatrixPatch<T>(u), MatrixPatch<T>(vh), options);
}

}  // namespace tessera::linalg
