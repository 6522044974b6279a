// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/counter_store.hpp"

namespace tessera::rma::detail {

void CounterStore::add(WorldRank peer, const OpTallies& tallies) {
  const std::lock_guard guard(mutex_);
  OpTallies& sums = by_peer_[peer];
  for (std::size_t op = 0; op < op_count; ++op) {
    sums[op] += tallies[op];
  }
}

void CounterStore::add(WorldRank peer, Op op, const Tally& tally) {
  const std::lock_guard guard(mutex_);
  by_peer_[peer][static_cast<std::size_t>(op)] += tally;
}

Traffic CounterStore::traffic() const {
  const std::lock_guard guard(mutex_);
  Traffic traffic;
  traffic.peers.reserve(by_peer_.size());
  for (const auto& [peer, tallies] : by_peer_) {
    traffic.peers.push_back({peer, tallies});
  }
  return traffic;
}

}  // namespace tessera::rma::detail
