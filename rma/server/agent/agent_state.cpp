// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/agent/agent_state.hpp"

#include <fmt/format.h>

#include "rma/node/agent_host.hpp"

namespace tessera::rma::server {

std::string AgentState::name() const {
  return fmt::format("node {} (rank {}): its agent ", options.node.value,
                     detail::agent_host_of(*node).value);
}

void AgentState::enter(WorldRank origin) {
  connections_.fetch_add(1);
  const std::lock_guard guard(mutex_);
  if (++connections_of_[origin.value] == 1) {
    node->memory().remote_rank_state(origin) = detail::RemoteRankState::unknown;
  }
}

bool AgentState::leave(WorldRank origin, detail::RemoteRankState state) {
  const std::lock_guard guard(mutex_);
  const auto found = connections_of_.find(origin.value);
  if (--found->second > 0) {
    return false;
  }
  connections_of_.erase(found);
  node->memory().remote_rank_state(origin) = state;
  return true;
}

void AgentState::exclude(WorldRank agent_host) {
  {
    const std::lock_guard guard(mutex_);
    const auto found = connections_of_.find(agent_host.value);
    if (--found->second == 0) {
      connections_of_.erase(found);
    }
  }
  record_left();
}

void AgentState::record_left() {
  connections_.fetch_sub(1);
  connections_.notify_all();
}

void AgentState::wait_for_peers_to_close() const {
  for (int left = connections_.load(); left > 0; left = connections_.load()) {
    connections_.wait(left);
  }
}

}  // namespace tessera::rma::server
