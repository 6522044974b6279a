// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/counter_store.hpp"

#include <new>

namespace tessera::rma::detail {

// Requires: mutex_ is locked.
OpTallies* CounterStore::sums_of(WorldRank peer) noexcept {
  try {
    return &by_peer_[peer];
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void CounterStore::add(WorldRank peer, RegionId region, const KindTallies& tallies) noexcept {
  const std::lock_guard guard(mutex_);
  OpTallies* const sums = sums_of(peer);
  for (std::size_t kind = 0; kind < op_kinds; ++kind) {
    if (sums != nullptr) {
      (*sums)[static_cast<std::size_t>(op_of(kind))] += tallies[kind];
    }
    if (regions_ != nullptr && tallies[kind].operations != 0) {
      regions_->add(region, kind, tallies[kind]);
    }
  }
}

void CounterStore::add(WorldRank peer, RegionId region, Op op, const Tally& tally,
                       Form form) noexcept {
  const std::lock_guard guard(mutex_);
  if (OpTallies* const sums = sums_of(peer)) {
    (*sums)[static_cast<std::size_t>(op)] += tally;
  }
  if (regions_ != nullptr) {
    regions_->add(region, kind_of(op, form), tally);
  }
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
