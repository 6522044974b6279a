// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. The variant of gemm in which elements of C stay with their owners. The owners fetch
// panels of A and B one-sided. linalg/detail/gemm_steps.hpp describes the order of the work.
#pragma once

#include <cstdint>

#include "linalg/detail/gemm_steps.hpp"
#include "linalg/local_matrix.hpp"
#include "rma/base/status.hpp"

namespace tessera::linalg::variants {

/// C = alpha A B + beta C, where A and B may be conjugated.
template <Scalar T>
struct GemmTask {
  detail::MatrixMap c;
  detail::Factors factors;
  bool conjugates_a = false;
  bool conjugates_b = false;
  T alpha = T{1};
  T beta = T{0};
  std::int64_t buffer_bytes = 0;
};

/// Local. Computes this rank's elements of C. Requires: extents match, A and B are complete, and no
/// rank changes them during the call. Errors: no_memory, peer_lost.
template <Scalar T>
rma::Status gemm_stationary_c(const GemmTask<T>& task);

}  // namespace tessera::linalg::variants
