// SPDX-License-Identifier: BSD-3-Clause
//
// CounterStore: a job's counts by peer, where its threads hand over what they counted on their own
// (engine/slice_cache.hpp); and by region, in jobs that are profiled.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "rma/counters.hpp"
#include "rma/engine/op_kind.hpp"
#include "rma/engine/region_counts.hpp"

namespace tessera::rma::detail {

class CounterStore {
 public:
  /// From now on counts are kept by region, too. Requires: nothing was counted.
  void count_regions() { regions_ = std::make_unique<RegionCounts>(); }
  /// Null unless count_regions() was called.
  [[nodiscard]] RegionCounts* regions() const noexcept { return regions_.get(); }

  /// What was done to a peer in one region. Where there is no memory for the first of a peer's
  /// counts, those are lost: an operation that was done is no failure.
  void add(WorldRank peer, RegionId region, const KindTallies& tallies) noexcept;
  /// One operation, or several, of one kind; likewise.
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
