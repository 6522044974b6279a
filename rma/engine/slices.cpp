// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/slices.hpp"

#include <utility>

#include "rma/engine/access.hpp"
#include "rma/engine/job_state.hpp"
#include "rma/engine/region_state.hpp"

namespace tessera::rma::detail {

Status Slices::make_tables(Node& node) {
  stripes_.emplace(node);
  TESSERA_ASSIGN_OR_RETURN(addresses_,
                           AddressTable::create(node.memory().base(), node.memory().size()));
  return {};
}

CachedSlice* Slices::load(WorldRank owner, RegionId region) const noexcept {
  if (job_.is_stopped()) {
    return nullptr;
  }
  if (CachedSlice* const entry = find_to_retarget(regions_, owner, region)) {
    const RegionState* const found = regions_.find(region);
    if (found == nullptr) {
      return nullptr;
    }
    if (counters_->regions() != nullptr) {
      flush_counts(*entry);
    }
    entry->retarget(region, found->plain_slice(owner));
    remote_of(*entry) = {nullptr, nullptr, {}, remote_of(*entry).route};
    return entry;
  }
  auto epoch = regions_.shared_epoch();
  const RegionState* const found = regions_.find(region);
  return found == nullptr
             ? nullptr
             : fill_cached(std::move(epoch), counters_, owner, region, found->plain_slice(owner));
}

void Slices::cache_route(const RemoteAddress& at, const RegionState& region, Endpoint& endpoint,
                         const Target& target) const {
  const bool is_for_all = job_.node().local_rank_of(at.rank) < 0 && job_.recorder() == nullptr &&
                          region.atomics() == Atomics::separate &&
                          allows_all(region.options().access_mode);
  CachedSlice* const entry = is_for_all ? cached(at.rank, at.region) : nullptr;
  if (entry != nullptr) {
    remote_of(*entry) = {&endpoint, target.segment, target.rank, remote_of(*entry).route};
  }
}

CachedSlice* Slices::counting_entry(WorldRank owner) const noexcept {
  CachedSlice* const entry = find_cached(regions_, owner, no_region);
  return entry != nullptr ? entry
                          : fill_cached(regions_.shared_epoch(), counters_, owner, no_region, {});
}

}  // namespace tessera::rma::detail
