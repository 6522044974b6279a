// SPDX-License-Identifier: BSD-3-Clause
//
// contract: a sum of products of two distributed arrays, given by index letters.
//
//     contract("abcd", a, "cdij", b, "abij", c);          // C[abij] = Σ_cd A[abcd] B[cdij]
//     contract("ik", a, "kj", b, "ij", c, {.beta = 1});   // C += A B
//     contract("i", x, "baj", y, "ijab", c);              // an outer product
//
// A letter stands for a dimension. Letters of A and B that C lacks are summed over. Each other
// letter is in C and in one of A and B. The dimensions of each array may be in any order, with up
// to eight for each array; the three arrays may have any distributions.
//
// As in gemm, C is not moved. Each member fetches the boxes of A and B that its own blocks of C
// need, rearranges each as a matrix unless it is one in memory, and multiplies. Each block of C is
// computed separately, so large blocks are faster than small cyclic ones.
//
// Cost: 2 × (elements of C) × (extents summed over) operations. Memory: up to TESSERA_LINALG_BUFFER
// bytes on each member during the call.
#pragma once

#include <complex>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "arrays/array.hpp"
#include "linalg/local_matrix.hpp"
#include "rma/base/status.hpp"

namespace tessera::linalg {

/// Factors alpha and beta, and a limit of memory in bytes.
template <Scalar T>
struct ContractOptions {
  T alpha = T{1};
  T beta = T{0};                  ///< 0: C is not read
  std::int64_t buffer_bytes = 0;  ///< replaces TESSERA_LINALG_BUFFER; 0: use that
};

/// Collective over the team of C. C = alpha Σ A B + beta C, where the sum is over the letters that
/// A and B have and C lacks. A letter is any character. Complete: at return all members see all of
/// C; their earlier writes to A, B and C are included. Requires: A and B may be on other teams, if
/// these have all members of C's team; writes by their other members are complete (sync()). Errors
/// that leave C unchanged: closed; invalid_argument (the number of letters is not the number of
/// dimensions; a letter is twice in one array, in all three arrays, in C only, or in only one of A
/// and B; extents don't match; C is also A or B; members give different arguments). Errors that
/// leave C's elements unspecified: no_memory, peer_lost.
template <Scalar T>
rma::Status contract(std::string_view a_letters, arrays::Array<T>& a, std::string_view b_letters,
                     arrays::Array<T>& b, std::string_view c_letters, arrays::Array<T>& c,
                     const std::type_identity_t<ContractOptions<T>>& options = {});

}  // namespace tessera::linalg
