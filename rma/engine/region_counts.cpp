// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/region_counts.hpp"

#include <algorithm>
#include <utility>

namespace tessera::rma::detail {

RegionCounts::RegionCounts(std::shared_ptr<PhaseLog> phases)
    : phases_(std::move(phases)), entries_(1), by_name_{{"", 0}} {}

// Requires: mutex_ is locked.
std::size_t RegionCounts::index_of(RegionId region) const {
  const auto found = by_region_.find(region.value);
  return found == by_region_.end() ? 0 : found->second;
}

void RegionCounts::record_made(RegionId region, const std::string& name, std::uint64_t bytes) {
  const std::lock_guard guard(mutex_);
  const auto [found, is_new] = by_name_.try_emplace(name, entries_.size());
  if (is_new) {
    entries_.emplace_back().name = name;
  }
  by_region_[region.value] = found->second;
  Entry& entry = entries_[found->second];
  ++entry.regions;
  entry.bytes += bytes;
  entry.max_bytes = std::max(entry.max_bytes, entry.bytes);
}

void RegionCounts::record_freed(RegionId region, std::uint64_t bytes) {
  const std::lock_guard guard(mutex_);
  Entry& entry = entries_[index_of(region)];
  entry.bytes -= std::min(entry.bytes, bytes);
}

void RegionCounts::add(RegionId region, std::size_t kind, const Tally& tally) {
  const std::lock_guard guard(mutex_);
  const std::size_t name = index_of(region);
  entries_[name].tallies[kind] += tally;
  if (PhaseLog::is_in_any()) {
    phases_->add_operations(name, op_of(kind), tally);
  }
}

std::vector<RegionCounts::Entry> RegionCounts::entries() const {
  const std::lock_guard guard(mutex_);
  return entries_;
}

}  // namespace tessera::rma::detail
