// SPDX-License-Identifier: BSD-3-Clause
//
// RegistrationCache: which memory is registered with a device, and which of it can be found again.
// It only keeps the records; Registrar acts on them.
//
// A registered region is one of
//
//     being registered   recorded before the call to the device, so that changes meanwhile are seen
//     kept               can be found; the least recently used without users is evicted first
//     uncached           cannot be found (any longer), and is dropped with its last user
//
// Invariants:
//  1. No kept region contains another. So their ends are in the order of their beginnings, and the
//     only candidate for a range is the last that begins at or before it.
//  2. Kept regions are within both limits. One with users is never dropped for lack of room.
//
// Threads: none of its own; the owner has a lock, and may hold it during these functions: they
// never wait. `Leaving` returns what has to be done without the lock. Cost: O(log n) to find.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <vector>

#include "rma/transport/verbs/library.hpp"
#include "rma/transport/verbs/page_range.hpp"
#include "rma/transport/verbs/unmap_monitor.hpp"

namespace tessera::rma::verbs {

struct RegisteredRegion {
  PageRange range;
  int access = 0;
  ibv_mr* region = nullptr;
  std::size_t users = 1;
  bool is_kept = false;
  /// The monitor watches it. The code that registers it sets this.
  bool is_watched = false;
  /// Its memory changed while it was being registered.
  bool is_stale = false;
};
using RegisteredRegions = std::list<RegisteredRegion>;
/// Valid until its region is in Leaving::unused.
using RegionHandle = RegisteredRegions::iterator;

struct CacheLimits {
  std::size_t bytes = 0;
  std::size_t regions = 0;
};

struct CacheCounters {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t evictions = 0;      ///< for lack of room
  std::uint64_t invalidations = 0;  ///< the memory was unmapped
  std::uint64_t kept_bytes = 0;     ///< now
  std::uint64_t kept_regions = 0;   ///< now
};

/// Regions that left the cache in some calls.
struct Leaving {
  /// To be deregistered.
  RegisteredRegions unused;
  /// Ranges that may be watched without need; see unneeded().
  std::vector<PageRange> ranges;
};

class RegistrationCache {
 public:
  explicit RegistrationCache(CacheLimits limits) noexcept : limits_(limits) {}

  /// A kept region that contains `range` and allows `access`, with one more user.
  [[nodiscard]] std::optional<RegionHandle> find(PageRange range, int access);
  /// The same without counting a miss, for callers that register nothing if it is not found.
  [[nodiscard]] std::optional<RegionHandle> find_again(PageRange range, int access);

  /// What to register if `range` was not found: also the kept regions that overlap it, if that at
  /// most doubles the work. So a buffer that is used in overlapping pieces ends as few regions, and
  /// one that grows piece by piece is not registered from its beginning each time.
  [[nodiscard]] PageRange grown(PageRange range) const;

  /// Whether a region of that size could be kept at all.
  [[nodiscard]] bool has_room_for(PageRange range) const noexcept {
    return range.bytes() <= limits_.bytes && limits_.regions > 0;
  }

  /// Records that `range` is being registered. finish() or cancel() follows.
  RegionHandle begin(PageRange range);
  /// It is registered; keeps it if allowed and if there is room.
  void finish(RegionHandle region, bool may_keep, Leaving& leaving);
  /// It could not be registered.
  void cancel(RegionHandle region, Leaving& leaving);

  /// Removes a user.
  void give_back(RegionHandle region, Leaving& leaving);

  /// Memory changed: regions in it are no longer kept.
  void invalidate(const MappingChange& change, Leaving& leaving);
  /// Drops all regions without users.
  void drop_unused(Leaving& leaving);

  /// The parts of `range` that no region needs watched, except parts that are gone.
  [[nodiscard]] std::vector<PageRange> unneeded(PageRange range,
                                                const MappingChanges& changes) const;

  [[nodiscard]] CacheCounters counters() const noexcept;

 private:
  [[nodiscard]] std::vector<RegionHandle> kept_over(PageRange range) const;
  [[nodiscard]] bool make_room_beside(const RegisteredRegion& region, Leaving& leaving);
  void keep(RegionHandle region);
  void uncache(RegionHandle region, Leaving& leaving);

  CacheLimits limits_;
  CacheCounters counters_;
  RegisteredRegions registering_;
  RegisteredRegions used_;  // kept or uncached
  RegisteredRegions idle_;  // kept; least recently used first
  std::map<std::uintptr_t, RegionHandle> kept_;
};

}  // namespace tessera::rma::verbs
