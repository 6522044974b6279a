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

CachedSlice* Slices::look_up(WorldRank owner, RegionId region) const noexcept {
  if (job_.is_stopped()) {
    return nullptr;
  }
  if (CachedSlice* const line = find_to_retarget(regions_, owner, region)) {
    const RegionState* const found = regions_.find(region);
    if (found == nullptr) {
      return nullptr;
    }
    if (counters_->regions() != nullptr) {
      flush_counts(*line);
    }
    line->retarget(region, found->plain_slice(owner));
    remote_of(*line) = {nullptr, nullptr, {}, remote_of(*line).route};
    return line;
  }
  auto epoch = regions_.shared_epoch();
  const RegionState* const found = regions_.find(region);
  return found == nullptr
             ? nullptr
             : fill_cached(std::move(epoch), counters_, owner, region, found->plain_slice(owner));
}

void Slices::cache_route(const RemoteAddress& at, const RegionState& region, Endpoint& endpoint,
                         const Target& target) const {
  const bool is_for_all = job_.node().local_rank_of(at.rank) < 0 &&
                          job_.accumulate_tickets() == nullptr && job_.recorder() == nullptr &&
                          region.atomics() == Atomics::separate &&
                          allows_all(region.options().access_mode);
  CachedSlice* const line = is_for_all ? cached(at.rank, at.region) : nullptr;
  if (line != nullptr) {
    remote_of(*line) = {&endpoint, target.segment, target.rank, remote_of(*line).route};
  }
}

CachedSlice* Slices::counting_entry(WorldRank owner) const noexcept {
  CachedSlice* const line = find_cached(regions_, owner, no_region);
  return line != nullptr ? line
                         : fill_cached(regions_.shared_epoch(), counters_, owner, no_region, {});
}

}  // namespace tessera::rma::detail
