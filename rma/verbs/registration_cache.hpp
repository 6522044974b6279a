// SPDX-License-Identifier: BSD-3-Clause
//
// RegistrationCache: which memory is registered with a device, and which of that can be found
// again. It only keeps the books; Registrar does what they say.
//
// A registered region is one of
//
//     being registered   noted before the device is asked, so that changes in between are seen
//     kept               can be found; of those without users the least recently used goes first
//     loose              cannot be found (again), and goes with its last user
//
// Invariants:
//  1. No kept region contains another. So their ends are in the order of their beginnings, and the
//     only one to look at for a range is the last that begins at or before it.
//  2. Kept regions are within both limits. One with users is never dropped for lack of room.
//
// Threads: none of its own; the owner has a lock. It may be held over these functions: nothing
// waits. What has to be done without it is handed out in `Leaving`. Cost: O(log n) to find.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <vector>

#include "rma/verbs/library.hpp"
#include "rma/verbs/page_range.hpp"
#include "rma/verbs/unmap_monitor.hpp"

namespace tessera::rma::verbs {

struct RegisteredRegion {
  PageRange range;
  int access = 0;
  ibv_mr* region = nullptr;
  std::size_t users = 1;
  bool is_kept = false;
  /// The monitor watches it. Set by who registers it.
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

/// What left the cache in some calls.
struct Leaving {
  /// To be deregistered.
  RegisteredRegions unused;
  /// What may be watched and not needed so any more; see unneeded().
  std::vector<PageRange> ranges;
};

class RegistrationCache {
 public:
  explicit RegistrationCache(CacheLimits limits) noexcept : limits_(limits) {}

  /// A kept region that contains `range` and allows `access`, with one user more.
  [[nodiscard]] std::optional<RegionHandle> find(PageRange range, int access);
  /// The same by those that register nothing where it isn't there: that is no miss.
  [[nodiscard]] std::optional<RegionHandle> find_again(PageRange range, int access);

  /// What to register where `range` was not found: together with kept regions that overlap it, if
  /// that at most doubles the work. So a buffer that is used in overlapping pieces ends as few
  /// regions, and one that grows piece by piece isn't registered from its beginning each time.
  [[nodiscard]] PageRange grown(PageRange range) const;

  /// Whether a region of that size could be kept at all.
  [[nodiscard]] bool has_room_for(PageRange range) const noexcept {
    return range.bytes() <= limits_.bytes && limits_.regions > 0;
  }

  /// Notes that `range` is being registered. finish() or cancel() follows.
  RegionHandle begin(PageRange range);
  /// It was registered, and is kept if it may be and there is room.
  void finish(RegionHandle region, bool may_keep, Leaving& leaving);
  /// It could not be registered.
  void cancel(RegionHandle region, Leaving& leaving);

  /// One user less.
  void give_back(RegionHandle region, Leaving& leaving);

  /// Memory changed: what lies in it isn't kept any more.
  void invalidate(const MappingChange& change, Leaving& leaving);
  /// All that has no users goes.
  void drop_unused(Leaving& leaving);

  /// The parts of `range` that no region needs watched, without those that are gone.
  [[nodiscard]] std::vector<PageRange> unneeded(PageRange range,
                                                const MappingChanges& changes) const;

  [[nodiscard]] CacheCounters counters() const noexcept;

 private:
  [[nodiscard]] std::vector<RegionHandle> kept_over(PageRange range) const;
  [[nodiscard]] bool make_room_beside(const RegisteredRegion& region, Leaving& leaving);
  void keep(RegionHandle region);
  void unkeep(RegionHandle region, Leaving& leaving);

  CacheLimits limits_;
  CacheCounters counters_;
  RegisteredRegions registering_;
  RegisteredRegions used_;  // kept or loose
  RegisteredRegions idle_;  // kept; least recently used first
  std::map<std::uintptr_t, RegionHandle> kept_;
};

}  // namespace tessera::rma::verbs
