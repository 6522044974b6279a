// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. The variant of contract in which elements of C stay with their owners. The owners fetch
// boxes of A and B one-sided and multiply them as matrices.
#pragma once

#include <cstdint>

#include "arrays/array_base.hpp"
#include "linalg/detail/contraction.hpp"
#include "linalg/local_matrix.hpp"
#include "rma/base/status.hpp"

namespace tessera::linalg::variants {

template <Scalar T>
struct ContractTask {
  arrays::ArrayBase& c;
  arrays::ArrayBase& a;
  arrays::ArrayBase& b;
  detail::Contraction dims;
  T alpha = T{1};
  T beta = T{0};
  std::int64_t buffer_bytes = 0;
};

/// Local. Computes this rank's elements of C. Requires: A and B are complete, and no rank changes
/// them during the call. Errors: no_memory, peer_lost, limit_exceeded.
template <Scalar T>
rma::Status contract_stationary_c(const ContractTask<T>& task);

}  // namespace tessera::linalg::variants
