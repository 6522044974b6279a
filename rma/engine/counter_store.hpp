// SPDX-License-Identifier: BSD-3-Clause
//
// CounterStore: a job's counts by peer, where its threads hand over what they counted on their own
// (engine/slice_cache.hpp).
#pragma once

#include <map>
#include <mutex>

#include "rma/counters.hpp"

namespace tessera::rma::detail {

class CounterStore {
 public:
  void add(WorldRank peer, const OpTallies& tallies);
  /// One operation, or several, of one kind.
  void add(WorldRank peer, Op op, const Tally& tally);
  [[nodiscard]] Traffic traffic() const;

 private:
  mutable std::mutex mutex_;
  std::map<WorldRank, OpTallies> by_peer_;
};

}  // namespace tessera::rma::detail
