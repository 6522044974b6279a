// SPDX-License-Identifier: BSD-3-Clause
//
// gemm: the product of distributed matrices, C = alpha op(A) op(B) + beta C.
//
//     gemm(a, b, c);                                                   // C = A B
//     gemm(a, b, c, {.beta = 1.0, .op_a = MatrixOp::transpose});             // C += Aᵀ B
//     gemm(MatrixPatch<double>(a, …), …, MatrixPatch<double>(c, Box({0, 0}, {10, 20})));
//
// The three arrays may have any distributions and memory orders. C is not moved. Each member
// computes its own elements of C from panels of A and B, which it fetches one-sided while it
// multiplies the previous ones (after SRUMMA, Krishnan and Nieplocha 2004). Panels that are one
// matrix in the node's memory are used in place. Members wait for each other only at the beginning
// and at the end. If blocks are small and cyclic, the owner's rows and columns are gathered first:
// that costs a copy, but the kernel still works on large matrices.
//
// The sum over k may be taken in any order, which may differ among members: results for different
// distributions agree up to rounding.
//
// Cost: 2 m n k operations; each member's share is proportional to its elements of C. Memory on
// each member during the call: up to TESSERA_LINALG_BUFFER bytes. If its part of C consists of many
// small blocks, up to twice that, but no more than its part of C. Only the lists of its own rows
// and columns of blocks grow with the matrices.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

#include "arrays/array.hpp"
#include "linalg/matrix_patch.hpp"
#include "rma/base/status.hpp"

namespace tessera::linalg {

/// How a matrix is used; conjugate_transpose of a real matrix is transpose.
enum class MatrixOp : std::uint8_t { none, transpose, conjugate_transpose };

/// Factors alpha and beta, the operations on A and B, and a limit of memory in bytes.
template <Scalar T>
struct GemmOptions {
  T alpha = T{1};
  T beta = T{0};  ///< 0: C is not read
  MatrixOp op_a = MatrixOp::none;
  MatrixOp op_b = MatrixOp::none;
  std::int64_t buffer_bytes = 0;  ///< replaces TESSERA_LINALG_BUFFER; 0: use that
};

/// Collective over the team of C. C = alpha op(A) op(B) + beta C; op(A) is m × k, op(B) is k × n, C
/// is m × n. With beta = 0 C is not read; with alpha = 0 A and B are not read. Complete: at return
/// all members see all of C; their earlier writes to A, B and C are included. Requires: A and B may
/// be on other teams, if these have all members of C's team; writes by their other members are
/// complete (sync()). Errors that leave C unchanged: closed; invalid_argument (extents or
/// dimensions that don't match, C shares elements with A or B, members that give different
/// arguments), out_of_range (a box outside its array). Errors that leave C's elements unspecified:
/// no_memory, peer_lost.
template <Scalar T>
rma::Status gemm(const MatrixPatch<T>& a, const MatrixPatch<T>& b, const MatrixPatch<T>& c,
                 const std::type_identity_t<GemmOptions<T>>& options = {});

/// Collective over the team of C. As above, for whole two-dimensional arrays.
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
