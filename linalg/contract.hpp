// SPDX-License-Identifier: BSD-3-Clause
//
// contract: a sum of products of two distributed arrays, told by letters.
//
//     contract("abcd", a, "cdij", b, "abij", c);          // C[abij] = Σ_cd A[abcd] B[cdij]
//     contract("ik", a, "kj", b, "ij", c, {.beta = 1});   // C += A B
//     contract("i", x, "baj", y, "ijab", c);              // an outer product
//
// A letter stands for a dimension. Letters of A and B that C lacks are summed over; each other one
// is in C and in one of A and B. Dimensions may come in any order, up to eight an array, and the
// arrays may be distributed in any three ways.
//
// As in gemm C stays where it is: each member takes the boxes of A and B that its own blocks of C
// need, brings each into the form of a matrix unless it has that form in memory, and multiplies. So
// blocks of C should be large; of small cyclic ones each is computed for itself.
//
// Cost: 2 × (elements of C) × (extents summed over) operations. Memory: up to TESSERA_LINALG_BUFFER
// a member while it lasts.
#pragma once

#include <complex>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "arrays/array.hpp"
#include "linalg/local_matrix.hpp"
#include "rma/status.hpp"

namespace tessera::linalg {

template <Scalar T>
struct ContractOptions {
  T alpha = T{1};
  T beta = T{0};                  ///< 0: C is not read
  std::int64_t buffer_bytes = 0;  ///< instead of TESSERA_LINALG_BUFFER; 0: that
};

/// Collective over the team of C. C = alpha Σ A B + beta C, where the sum runs over the letters
/// that A and B have and C hasn't. A letter is any character. Complete: at return all members see
/// all of C; what they wrote to A, B and C before is seen. Requires: A and B may be on other teams
/// that have all members of C's; what others of their members wrote is complete (sync()). Errors:
/// closed; invalid_argument (not a letter for each dimension, a letter twice in one array, in all
/// three, in C only, or in one of A and B only; extents that don't match; C is also A or B; members
/// that ask for different things): nothing was changed. no_memory, peer_lost: C's elements are
/// unspecified.
template <Scalar T>
rma::Status contract(std::string_view a_letters, arrays::Array<T>& a, std::string_view b_letters,
                     arrays::Array<T>& b, std::string_view c_letters, arrays::Array<T>& c,
                     const std::type_identity_t<ContractOptions<T>>& options = {});

}  // namespace tessera::linalg
