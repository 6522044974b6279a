// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/team/team_nodes.hpp"

#include <algorithm>
#include <bit>

namespace tessera::rma::detail {

// The lowest `first` or `odd` of both sides that differs from the lowest `first` is also the lowest
// such call of the union. For if a side's `first` is not the lowest of all, then it or its `odd`
// differs from that.
void StepSummary::join(const StepSummary& other) noexcept {
  const Called candidates[] = {first, odd, other.first, other.odd};
  first = other.first.order < first.order ? other.first : first;
  odd = Called{};
  for (const Called& each : candidates) {
    if (each.is_known() && !each.is_same(first) && each.order < odd.order) {
      odd = each;
    }
  }
  slot_bytes = std::min(slot_bytes, other.slot_bytes);
  broken = broken != 0 ? broken : other.broken;
}

TeamNodes::TeamNodes(const std::vector<WorldRank>& members, const NodeMap& map, WorldRank self) {
  std::vector<WorldRank> sorted = members;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::int32_t> index_of_node(static_cast<std::size_t>(map.count()), -1);
  for (const WorldRank rank : sorted) {
    std::int32_t& index = index_of_node[static_cast<std::size_t>(map.node_of(rank).value)];
    if (index < 0) {
      index = count();
      nodes_.push_back({map.node_of(rank), {}});
    }
    nodes_[static_cast<std::size_t>(index)].ranks.push_back(rank);
  }
  own_ = index_of_node[static_cast<std::size_t>(map.node_of(self).value)];
  std::vector<std::int32_t> seated(nodes_.size(), 0);
  for (const WorldRank rank : members) {
    const std::int32_t index = index_of_node[static_cast<std::size_t>(map.node_of(rank).value)];
    member_locations_.push_back({index, seated[static_cast<std::size_t>(index)]++});
  }
  members_before_.push_back(0);
  for (std::int32_t index = 0; index < count(); ++index) {
    members_before_.push_back(members_before_.back() + members_on(index));
  }
  rounds_ = static_cast<int>(std::bit_width(static_cast<std::uint32_t>(count()) - 1));
  find_partners();
}

std::int32_t TeamNodes::receiver(int round) const noexcept {
  return (own_ + (1 << round)) % count();
}

std::int32_t TeamNodes::sender(int round) const noexcept {
  return (own_ - (1 << round) + count()) % count();
}

void TeamNodes::find_partners() {
  for (int round = 0; round < rounds_; ++round) {
    partners_.push_back(receiver(round));
    partners_.push_back(sender(round));
  }
  std::sort(partners_.begin(), partners_.end());
  partners_.erase(std::unique(partners_.begin(), partners_.end()), partners_.end());
}

int TeamNodes::round_of(std::int32_t distance) noexcept {
  return static_cast<int>(std::bit_width(static_cast<std::uint32_t>(distance))) - 1;
}

std::int32_t TeamNodes::blocks_in(int round) const noexcept {
  return std::min(1 << round, count() - (1 << round));
}

std::int32_t TeamNodes::members_within(std::int32_t index, std::int32_t blocks) const noexcept {
  const std::int32_t first = index + 1 - blocks;
  return members_before(index + 1) -
         (first >= 0 ? members_before(first)
                     : members_before(first + count()) - members_before(count()));
}

std::uint64_t TeamNodes::mailbox_bytes(std::int32_t index, int round,
                                       std::uint64_t slot_bytes) const noexcept {
  const std::int32_t nearest = 1 << round;
  const std::int32_t members =
      members_within(index, nearest + blocks_in(round)) - members_within(index, nearest);
  return sizeof(TeamMailbox) + static_cast<std::uint64_t>(members) * slot_bytes;
}

std::uint64_t TeamNodes::mail_offset(std::int32_t index, Set set, int round,
                                     std::uint64_t slot_bytes) const {
  const auto bytes_before = [&](int rounds, std::uint64_t each) {
    std::uint64_t sum = 0;
    for (int before = 0; before < rounds; ++before) {
      sum += mailbox_bytes(index, before, each);
    }
    return sum;
  };
  if (set == Set::forming) {
    return bytes_before(round, 0);
  }
  const std::uint64_t sets_before = set == Set::odd ? 1 : 0;
  return bytes_before(rounds_, 0) + sets_before * bytes_before(rounds_, slot_bytes) +
         bytes_before(round, slot_bytes);
}

std::uint64_t TeamNodes::mail_bytes(std::int32_t index, std::uint64_t slot_bytes) const {
  return mail_offset(index, Set::odd, rounds_, slot_bytes);
}

}  // namespace tessera::rma::detail
