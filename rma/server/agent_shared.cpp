// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/agent_shared.hpp"

namespace tessera::rma::server {

void AgentShared::enter(WorldRank origin) {
  conversations_.fetch_add(1);
  const std::lock_guard guard(mutex_);
  if (++conversations_of_[origin.value] == 1) {
    node->memory().guest_fate(origin) = detail::GuestFate::unknown;
  }
}

bool AgentShared::leave(WorldRank origin, detail::GuestFate fate) {
  const std::lock_guard guard(mutex_);
  const auto found = conversations_of_.find(origin.value);
  if (--found->second > 0) {
    return false;
  }
  conversations_of_.erase(found);
  node->memory().guest_fate(origin) = fate;
  return true;
}

void AgentShared::exclude(WorldRank carrier) {
  {
    const std::lock_guard guard(mutex_);
    const auto found = conversations_of_.find(carrier.value);
    if (--found->second == 0) {
      conversations_of_.erase(found);
    }
  }
  note_left();
}

void AgentShared::note_left() {
  conversations_.fetch_sub(1);
  conversations_.notify_all();
}

void AgentShared::wait_until_alone() const {
  for (int left = conversations_.load(); left > 0; left = conversations_.load()) {
    conversations_.wait(left);
  }
}

}  // namespace tessera::rma::server
