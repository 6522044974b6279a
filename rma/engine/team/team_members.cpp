// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/team/team_members.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::rma::detail {
namespace {

// FNV-1a over the ranks, in their order.
std::uint64_t hash_ranks(std::span<const WorldRank> ranks) noexcept {
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325;
  for (const WorldRank rank : ranks) {
    hash = (hash ^ static_cast<std::uint32_t>(rank.value)) * 0x100'0000'01b3;
  }
  return hash;
}

std::vector<WorldRank> sorted_copy(std::span<const WorldRank> ranks) {
  std::vector<WorldRank> sorted(ranks.begin(), ranks.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

}  // namespace

Status TeamMembers::check(std::span<const WorldRank> ranks, WorldRank self, std::int32_t job_size) {
  if (ranks.empty()) {
    return Status::error(Code::invalid_argument, "a team needs at least one member");
  }
  const std::vector<WorldRank> sorted = sorted_copy(ranks);
  if (sorted.front().value < 0 || sorted.back().value >= job_size) {
    const WorldRank wrong = sorted.front().value < 0 ? sorted.front() : sorted.back();
    return Status::error(Code::invalid_argument,
                         fmt::format("rank {} cannot be in a team: the job has ranks 0 to {}",
                                     wrong.value, job_size - 1));
  }
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    return Status::error(Code::invalid_argument,
                         fmt::format("rank {} is in the team's list twice", twice->value));
  }
  if (!std::binary_search(sorted.begin(), sorted.end(), self)) {
    return Status::error(
        Code::invalid_argument,
        fmt::format("rank {} makes a team but is not in its list of members", self.value));
  }
  return {};
}

TeamMembers::TeamMembers(std::span<const WorldRank> ranks, WorldRank self, const Node& node,
                         const NodeMap& map, std::uint32_t companion_of)
    : ranks_(ranks.begin(), ranks.end()),
      own_world_rank_(self),
      first_on_node_(node.ranks().front().value),
      sorted_on_node_(sorted_copy(ranks)) {
  constexpr std::uint64_t golden = 0x9e37'79b9'7f4a'7c15;
  set_hash_ = hash_ranks(sorted_on_node_) ^ companion_of * golden;
  std::erase_if(sorted_on_node_, [&](WorldRank rank) { return node.local_rank_of(rank) < 0; });
  sort_by_world_rank();
  find_order(node);
  if (count_on_node() != size()) {
    nodes_.emplace(ranks_, map, self);
  }
}

void TeamMembers::sort_by_world_rank() {
  const bool consecutive =
      std::adjacent_find(ranks_.begin(), ranks_.end(), [](WorldRank a, WorldRank b) {
        return b.value != a.value + 1;
      }) == ranks_.end();
  if (consecutive) {
    return;
  }
  by_world_rank_.reserve(ranks_.size());
  for (TeamRank member{0}; member.value < size(); ++member.value) {
    by_world_rank_.push_back(member);
  }
  std::sort(by_world_rank_.begin(), by_world_rank_.end(),
            [&](TeamRank a, TeamRank b) { return world_rank(a) < world_rank(b); });
}

void TeamMembers::find_order(const Node& node) {
  order_on_node_.assign(static_cast<std::size_t>(node.rank_span()), -1);
  std::int32_t next = 0;
  for (TeamRank member{0}; member.value < size(); ++member.value) {
    const WorldRank rank = world_rank(member);
    if (rank == own_world_rank_) {
      self_ = member;
      own_order_ = next;
    }
    if (node.local_rank_of(rank) >= 0) {
      order_on_node_[static_cast<std::size_t>(rank.value - first_on_node_)] = next++;
    }
  }
}

std::uint64_t TeamMembers::list_hash() const noexcept {
  return hash_ranks(ranks_);
}

TeamRank TeamMembers::team_rank(WorldRank rank) const noexcept {
  if (by_world_rank_.empty()) {
    const std::int64_t at = std::int64_t{rank.value} - ranks_.front().value;
    return TeamRank{at >= 0 && at < size() ? static_cast<std::int32_t>(at) : -1};
  }
  const auto found = std::lower_bound(
      by_world_rank_.begin(), by_world_rank_.end(), rank,
      [&](TeamRank member, WorldRank wanted) { return world_rank(member) < wanted; });
  const bool is_member = found != by_world_rank_.end() && world_rank(*found) == rank;
  return is_member ? *found : TeamRank{-1};
}

}  // namespace tessera::rma::detail
