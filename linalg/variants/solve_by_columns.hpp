// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Solving with a factorised matrix. Each rank has whole columns of the right-hand sides.
// It reads the factors panel by panel, one-sided, the next one while it computes; ranks don't wait
// for each other. The factors may have any distribution.
//
// All functions are local; other ranks see the results after the next synchronisation. If there are
// fewer right-hand sides than ranks, some ranks are idle. Memory: two panels, n × width.
#pragma once

#include <cstdint>
#include <span>

#include "linalg/blas.hpp"
#include "linalg/detail/matrix_map.hpp"
#include "linalg/local_matrix.hpp"
#include "rma/base/status.hpp"

namespace tessera::linalg::variants {

/// A triangular matrix, or its complex conjugate.
struct TriangularFactor {
  detail::MatrixMap map;
  blas::Triangle triangle = blas::Triangle::lower;
  blas::Diagonal diagonal = blas::Diagonal::stored;
  bool is_conjugated = false;

  [[nodiscard]] TriangularFactor transposed() const noexcept {
    return {map.transposed(),
            triangle == blas::Triangle::lower ? blas::Triangle::upper : blas::Triangle::lower,
            diagonal, is_conjugated};
  }
  [[nodiscard]] TriangularFactor adjoint() const noexcept {
    TriangularFactor factor = transposed();
    factor.is_conjugated = !is_conjugated;
    return factor;
  }
};

/// Local. X = A⁻¹ X, in panels of `width` columns of A. Errors: invalid_argument if an element of
/// the diagonal is zero, with its index; those of gets.
template <Scalar T>
rma::Status solve_triangular(const TriangularFactor& a, std::int64_t width,
                             const LocalMatrix<T>& x);

/// Local. C = Q C or, if `is_adjoint`, C = Qᴴ C, with Q as qr() leaves it in A.
template <Scalar T>
rma::Status multiply_by_q(const detail::MatrixMap& a, std::span<const T> tau, bool is_adjoint,
                          std::int64_t width, const LocalMatrix<T>& c);

}  // namespace tessera::linalg::variants
