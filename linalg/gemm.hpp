// SPDX-License-Identifier: BSD-3-Clause
//
// gemm: the product of distributed matrices, C = alpha op(A) op(B) + beta C.
//
//     gemm(a, b, c);                                                   // C = A B
//     gemm(a, b, c, {.beta = 1.0, .op_a = MatrixOp::transpose});             // C += Aᵀ B
//     gemm(MatrixPatch<double>(a, …), …, MatrixPatch<double>(c, Box({0, 0}, {10, 20})));
//
// The three arrays may be distributed in any three ways and memory orders. C stays where it is:
// each member computes its own elements of C from panels of A and B, which it fetches one-sided
// while it computes with those before (after SRUMMA, Krishnan and Nieplocha 2004); panels that lie
// in the node's memory as one matrix are used where they are. So nobody waits for anybody between
// the beginning and the end. Of blocks dealt cyclically the owner's rows and columns are gathered,
// so that small blocks cost a copy, not the speed of the kernel.
//
// The sum over k may be taken in any order, another one on each member: results agree with those of
// other distributions up to rounding.
//
// Cost: 2 m n k operations, a member's share of them by its elements of C. Memory: up to
// TESSERA_LINALG_BUFFER a member while it lasts, and twice that, but no more than its part of C,
// where that is many small blocks; nothing that grows with the matrices but lists of its own rows
// and columns of blocks.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

#include "arrays/array.hpp"
#include "linalg/matrix_patch.hpp"
#include "rma/status.hpp"

namespace tessera::linalg {

/// What a matrix is taken for; conjugate_transpose of real matrices is transpose.
enum class MatrixOp : std::uint8_t { none, transpose, conjugate_transpose };

template <Scalar T>
struct GemmOptions {
  T alpha = T{1};
  T beta = T{0};  ///< 0: C is not read
  MatrixOp op_a = MatrixOp::none;
  MatrixOp op_b = MatrixOp::none;
  std::int64_t buffer_bytes = 0;  ///< instead of TESSERA_LINALG_BUFFER; 0: that
};

/// Collective over the team of C. C = alpha op(A) op(B) + beta C; op(A) is m × k, op(B) k × n, C
/// m × n. With beta = 0 C is not read, with alpha = 0 nor are A and B.
/// Complete: at return all members see all of C; what they wrote to A, B and C before is seen.
/// Requires: A and B may be on other teams that have all members of C's; what others of their
/// members wrote is complete (sync()).
/// Errors: closed; invalid_argument (extents that don't match, dimensions, C shares elements with
/// A or B, members that ask for different things), out_of_range (a box outside its array): nothing
/// was changed. no_memory, peer_lost: C's elements are unspecified.
template <Scalar T>
rma::Status gemm(const MatrixPatch<T>& a, const MatrixPatch<T>& b, const MatrixPatch<T>& c,
                 const std::type_identity_t<GemmOptions<T>>& options = {});

/// Collective over the team of C. The same of whole two-dimensional arrays.
template <Scalar T>
rma::Status gemm(arrays::Array<T>& a, arrays::Array<T>& b, arrays::Array<T>& c,
                 const std::type_identity_t<GemmOptions<T>>& options = {}) {
  return gemm(MatrixPatch<T>(a), MatrixPatch<T>(b), MatrixPatch<T>(c), options);
}

extern template rma::Status gemm(const MatrixPatch<float>&, const MatrixPatch<float>&,
                                 const MatrixPatch<float>&, const GemmOptions<float>&);
extern template rma::Status gemm(const MatrixPatch<double>&, const MatrixPatch<double>&,
                                 const MatrixPatch<double>&, const GemmOptions<double>&);
extern template rma::Status gemm(const MatrixPatch<std::complex<float>>&,
                                 const MatrixPatch<std::complex<float>>&,
                                 const MatrixPatch<std::complex<float>>&,
                                 const GemmOptions<std::complex<float>>&);
extern template rma::Status gemm(const MatrixPatch<std::complex<double>>&,
                                 const MatrixPatch<std::complex<double>>&,
                                 const MatrixPatch<std::complex<double>>&,
                                 const GemmOptions<std::complex<double>>&);

}  // namespace tessera::linalg
