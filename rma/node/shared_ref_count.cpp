// SPDX-License-Identifier: BSD-3-Clause
#include "rma/node/shared_ref_count.hpp"

#include "rma/base/rounding.hpp"

namespace tessera::rma::detail {

std::size_t SharedRefCount::bytes(std::size_t members) noexcept {
  return round_up(sizeof(SharedRefCount) + members, cache_line);
}

std::atomic<std::uint8_t>& SharedRefCount::flag(std::size_t index) noexcept {
  return reinterpret_cast<std::atomic<std::uint8_t>*>(this + 1)[index];
}

bool SharedRefCount::release(const Node& node, std::span<const WorldRank> members,
                             std::size_t index) noexcept {
  const RobustGuard guard(node.memory().header().shared_ref_count_lock, node.lock_context());
  flag(index).store(1);
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (flag(i).load() == 0 && !node.has_ended(node.local_rank_of(members[i]))) {
      return false;
    }
  }
  return true;
}

}  // namespace tessera::rma::detail
