// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/verbs/registration_cache.hpp"

#include <algorithm>
#include <iterator>

namespace tessera::rma::verbs {
namespace {

bool allows(int access, int wanted) noexcept {
  return (access & wanted) == wanted;
}

}  // namespace

std::optional<RegionHandle> RegistrationCache::find(PageRange range, int access) {
  auto found = find_again(range, access);
  counters_.misses += found ? 0U : 1U;
  return found;
}

std::optional<RegionHandle> RegistrationCache::find_again(PageRange range, int access) {
  const auto after = kept_.upper_bound(range.begin);
  if (after != kept_.begin()) {
    const RegionHandle found = std::prev(after)->second;
    if (found->range.contains(range) && allows(found->access, access)) {
      if (found->users++ == 0) {
        used_.splice(used_.end(), idle_, found);
      }
      ++counters_.hits;
      return found;
    }
  }
  return std::nullopt;
}

PageRange RegistrationCache::grown(PageRange range) const {
  const std::size_t most = std::min(2 * range.bytes(), limits_.bytes);
  PageRange grown = range;
  for (const RegionHandle region : kept_over(range)) {
    const PageRange united = grown.united_with(region->range);
    if (united.bytes() <= most) {
      grown = united;
    }
  }
  return grown;
}

RegionHandle RegistrationCache::begin(PageRange range) {
  return registering_.insert(registering_.end(), RegisteredRegion{.range = range});
}

void RegistrationCache::finish(RegionHandle region, bool may_keep, Leaving& leaving) {
  used_.splice(used_.end(), registering_, region);
  bool keeps = may_keep && !region->is_stale && has_room_for(region->range);
  for (const RegionHandle other : kept_over(region->range)) {
    // Another thread may have registered the same memory meanwhile.
    if (other->range.contains(region->range) && allows(other->access, region->access)) {
      keeps = false;
    }
  }
  if (keeps) {
    for (const RegionHandle other : kept_over(region->range)) {
      if (region->range.contains(other->range) || other->range.contains(region->range)) {
        uncache(other, leaving);
      }
    }
    keeps = make_room_beside(*region, leaving);
  }
  if (keeps) {
    keep(region);
  } else if (region->is_watched) {
    leaving.ranges.push_back(region->range);
  }
}

void RegistrationCache::cancel(RegionHandle region, Leaving& leaving) {
  if (region->is_watched) {
    leaving.ranges.push_back(region->range);
  }
  registering_.erase(region);
}

void RegistrationCache::give_back(RegionHandle region, Leaving& leaving) {
  if (--region->users > 0) {
    return;
  }
  RegisteredRegions& to = region->is_kept ? idle_ : leaving.unused;
  to.splice(to.end(), used_, region);
}

void RegistrationCache::invalidate(const MappingChange& change, Leaving& leaving) {
  for (const RegionHandle region : kept_over(change.range)) {
    ++counters_.invalidations;
    uncache(region, leaving);
  }
  for (RegisteredRegion& region : registering_) {
    region.is_stale |= region.range.overlaps(change.range);
  }
  if (change.moved_to.bytes() > 0) {
    leaving.ranges.push_back(change.moved_to);
  }
}

void RegistrationCache::drop_unused(Leaving& leaving) {
  while (!idle_.empty()) {
    uncache(idle_.begin(), leaving);
  }
}

std::vector<PageRange> RegistrationCache::unneeded(PageRange range,
                                                   const MappingChanges& changes) const {
  std::vector<PageRange> covers;
  for (const RegionHandle region : kept_over(range)) {
    covers.push_back(region->range);
  }
  for (const RegisteredRegion& region : registering_) {
    covers.push_back(region.range);
  }
  for (const MappingChange& change : changes.list()) {
    if (change.is_gone) {
      covers.push_back(change.range);
    }
  }
  std::sort(covers.begin(), covers.end(),
            [](PageRange a, PageRange b) { return a.begin < b.begin; });
  std::vector<PageRange> parts;
  std::uintptr_t at = range.begin;
  for (const PageRange cover : covers) {
    if (cover.begin > at && at < range.end) {
      parts.push_back({at, std::min(cover.begin, range.end)});
    }
    at = std::max(at, cover.end);
  }
  if (at < range.end) {
    parts.push_back({at, range.end});
  }
  return parts;
}

CacheCounters RegistrationCache::counters() const noexcept {
  CacheCounters now = counters_;
  now.kept_regions = kept_.size();
  return now;
}

// From right to left: by invariant 1 the first that ends before the range ends the search.
std::vector<RegionHandle> RegistrationCache::kept_over(PageRange range) const {
  std::vector<RegionHandle> found;
  auto at = kept_.lower_bound(range.end);
  while (at != kept_.begin()) {
    --at;
    if (at->second->range.end <= range.begin) {
      break;
    }
    found.push_back(at->second);
  }
  return found;
}

bool RegistrationCache::make_room_beside(const RegisteredRegion& region, Leaving& leaving) {
  while (counters_.kept_bytes + region.range.bytes() > limits_.bytes ||
         kept_.size() >= limits_.regions) {
    if (idle_.empty()) {
      return false;
    }
    ++counters_.evictions;
    uncache(idle_.begin(), leaving);
  }
  return true;
}

void RegistrationCache::keep(RegionHandle region) {
  kept_.emplace(region->range.begin, region);
  region->is_kept = true;
  counters_.kept_bytes += region->range.bytes();
}

// The region may have users: it is dropped with the last of them.
void RegistrationCache::uncache(RegionHandle region, Leaving& leaving) {
  leaving.ranges.push_back(region->range);
  kept_.erase(region->range.begin);
  region->is_kept = false;
  counters_.kept_bytes -= region->range.bytes();
  if (region->users == 0) {
    leaving.unused.splice(leaving.unused.end(), idle_, region);
  }
}

}  // namespace tessera::rma::verbs
