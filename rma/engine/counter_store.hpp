// SPDX-License-Identifier: BSD-3-Clause
//
// CounterStore: a job's counts by peer, to which its threads add the counts that they keep
// themselves (engine/slice_cache.hpp). In profiled jobs also by region.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "rma/counters.hpp"
#include "rma/engine/op_kind.hpp"
#include "rma/engine/region_counts.hpp"

namespace tessera::rma::detail {

class CounterStore {
 public:
  /// From now on also counts by region and by phase. Requires: nothing was counted yet.
  void count_regions(std::shared_ptr<PhaseLog> phases) {
    regions_ = std::make_unique<RegionCounts>(std::move(phases));
  }
  /// Null unless count_regions() was called.
  [[nodiscard]] RegionCounts* regions() const noexcept { return regions_.get(); }

  /// Adds what was done to a peer in one region. If there is no memory for a peer's first counts,
  /// they are lost: the operation itself succeeded and must not fail for it.
  void add(WorldRank peer, RegionId region, const KindTallies& tallies) noexcept;
  /// Adds one or several operations of one kind; loses counts in the same case.
  void add(WorldRank peer, RegionId region, Op op, const Tally& tally,
           Form form = Form::contiguous) noexcept;
  [[nodiscard]] Traffic traffic() const;

 private:
  [[nodiscard]] OpTallies* sums_of(WorldRank peer) noexcept;

  mutable std::mutex mutex_;
  std::map<WorldRank, OpTallies> by_peer_;
  std::unique_ptr<RegionCounts> regions_;
};

}  // namespace tessera::rma::detail
