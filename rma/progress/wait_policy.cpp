// SPDX-License-Identifier: BSD-3-Clause
#include "rma/progress/wait_policy.hpp"

#include "rma/tuning.hpp"

namespace tessera::rma::detail {

WaitPolicy choose_wait_policy(const Settings& settings, int node_ranks,
                              int node_processors) noexcept {
  WaitPolicy policy =
      node_processors >= node_ranks ? with_spare_processors : with_scarce_processors;
  if (settings.spin_ns >= 0) {
    policy.spin = std::chrono::nanoseconds(settings.spin_ns);
    policy.yield = {};
  }
  policy.liveness_interval = std::chrono::milliseconds(settings.liveness_ms);
  return policy;
}

}  // namespace tessera::rma::detail
