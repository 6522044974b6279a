// SPDX-License-Identifier: BSD-3-Clause
//
// Slices: how a rank finds slices of regions: the job's tables of regions and raw pointers, the
// locks of slices, and the calling thread's cache entries (decision 4).
//
// Threads: all functions may be called from any thread.
#pragma once

#include <memory>
#include <optional>

#include "rma/base/rank.hpp"
#include "rma/engine/address_table.hpp"
#include "rma/engine/counter_store.hpp"
#include "rma/engine/region_table.hpp"
#include "rma/engine/slice_cache.hpp"
#include "rma/engine/stripes.hpp"
#include "rma/node/node.hpp"
#include "rma/region.hpp"
#include "rma/transport/transport.hpp"

namespace tessera::rma::detail {

class JobState;

class Slices {
 public:
  explicit Slices(const JobState& job) noexcept : job_(job) {}
  /// Makes the locks and the table of raw pointers. Called once, when the job has its node.
  /// Errors: no_memory.
  Status make_tables(Node& node);

  [[nodiscard]] RegionTable& regions() noexcept { return regions_; }
  [[nodiscard]] const RegionTable& regions() const noexcept { return regions_; }
  [[nodiscard]] AddressTable& addresses() const noexcept { return *addresses_; }
  [[nodiscard]] CounterStore& counters() const noexcept { return *counters_; }
  [[nodiscard]] StripeLocks& stripes() noexcept { return *stripes_; }
  [[nodiscard]] const StripeLocks& stripes() const noexcept { return *stripes_; }

  /// The calling thread's cache entry for `owner`'s slice of `region`, filled if necessary. It has
  /// no start if the slice is not a plain mapped one. Null if the region does not exist, the thread
  /// is ending, or the cache cannot be allocated.
  [[gnu::always_inline]] CachedSlice* cached(WorldRank owner, RegionId region) const {
    CachedSlice* const entry = find_cached(regions_, owner, region);
    return entry != nullptr ? entry : load(owner, region);
  }
  /// The locks of an entry's slice; none if the program has promised that it needs none.
  [[nodiscard]] StripeLocks::Slice stripes_of(const CachedSlice& entry) const noexcept {
    const StripeLocks::Slice locked = stripes_->slice(entry.region(), entry.rank());
    return entry.has_conflicts ? locked : locked.without_locks();
  }
  /// The cache entry in which operations on `owner` that touch no slice are counted; null as above.
  [[nodiscard]] CachedSlice* counting_entry(WorldRank owner) const noexcept;

  /// Remembers how to reach a slice of another node in the calling thread's cache entry, if all
  /// kinds of operations may use this route.
  void cache_route(const RemoteAddress& at, const RegionState& region, Endpoint& endpoint,
                   const Target& target) const;

 private:
  CachedSlice* load(WorldRank owner, RegionId region) const noexcept;

  const JobState& job_;
  RegionTable regions_;
  std::unique_ptr<AddressTable> addresses_;
  std::shared_ptr<CounterStore> counters_ = std::make_shared<CounterStore>();
  std::optional<StripeLocks> stripes_;
};

}  // namespace tessera::rma::detail
