// SPDX-License-Identifier: BSD-3-Clause
//
// The agent host: the rank whose process runs the node's agent. All operations and messages from
// other nodes arrive through it; after its death the node is cut off from them.
#pragma once

#include "rma/base/rank.hpp"
#include "rma/node/node.hpp"

namespace tessera::rma::detail {

inline constexpr int agent_host_local_rank = 0;

[[nodiscard]] inline WorldRank agent_host_of(const Node& node) noexcept {
  return node.ranks().front();
}

/// True if its process has ended: a wait for another node cannot succeed then. An agent host that
/// has left the job continues to serve its node. Cost: a system call.
[[nodiscard]] inline bool has_lost_agent_host(const Node& node) {
  return node.has_ended(agent_host_local_rank);
}

}  // namespace tessera::rma::detail
