// SPDX-License-Identifier: BSD-3-Clause
//
// TeamMembers: the ranks of a team in the order of its list, and which of them are on which node.
//
// A member's *order* is its number among the members on its node, in the order of the team's list.
// The *leader* of a node is the lowest of its members.
//
// Invariant: constant after construction. Threads: any. Cost: O(members) memory and start time; a
// rank's number in the team is found in O(log members), or at once if members are consecutive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rma/base/rank.hpp"
#include "rma/base/status.hpp"
#include "rma/engine/node_map.hpp"
#include "rma/engine/team/team_nodes.hpp"
#include "rma/node/node.hpp"

namespace tessera::rma::detail {

class TeamMembers {
 public:
  /// Errors: invalid_argument if `ranks` cannot be a team of rank `self` in a job of that size.
  static Status check(std::span<const WorldRank> ranks, WorldRank self, std::int32_t job_size);

  /// Requires: check() is ok. `node` is that of rank `self`. `companion_of`: see TeamState::create.
  TeamMembers(std::span<const WorldRank> ranks, WorldRank self, const Node& node,
              const NodeMap& map, std::uint32_t companion_of = 0);

  [[nodiscard]] const std::vector<WorldRank>& ranks() const noexcept { return ranks_; }
  [[nodiscard]] std::int32_t size() const noexcept {
    return static_cast<std::int32_t>(ranks_.size());
  }
  [[nodiscard]] WorldRank world_rank(TeamRank member) const noexcept {
    return ranks_[static_cast<std::size_t>(member.value)];
  }
  /// The number of a world rank in the team, or −1.
  [[nodiscard]] TeamRank team_rank(WorldRank rank) const noexcept;

  /// This rank, as a member and in the job.
  [[nodiscard]] TeamRank self() const noexcept { return self_; }
  [[nodiscard]] WorldRank own_world_rank() const noexcept { return own_world_rank_; }

  /// The order of a rank if it is a member on this node, else −1.
  [[nodiscard]] std::int32_t order_of(WorldRank rank) const noexcept {
    const std::int64_t at = std::int64_t{rank.value} - first_on_node_;
    return at < 0 || at >= static_cast<std::int64_t>(order_on_node_.size())
               ? -1
               : order_on_node_[static_cast<std::size_t>(at)];
  }
  /// The order of this rank.
  [[nodiscard]] std::int32_t own_order() const noexcept { return own_order_; }
  /// How many members are on this node; and which, ascending: the first one is the leader.
  [[nodiscard]] std::int32_t count_on_node() const noexcept {
    return static_cast<std::int32_t>(sorted_on_node_.size());
  }
  [[nodiscard]] const std::vector<WorldRank>& sorted_on_node() const noexcept {
    return sorted_on_node_;
  }
  [[nodiscard]] WorldRank leader() const noexcept { return sorted_on_node_.front(); }
  [[nodiscard]] bool is_leader() const noexcept { return own_world_rank_ == leader(); }

  [[nodiscard]] bool has_other_nodes() const noexcept { return nodes_.has_value(); }
  /// Requires: has_other_nodes().
  [[nodiscard]] const TeamNodes& nodes() const noexcept { return *nodes_; }

  /// A hash of the set of ranks, and of `companion_of`, by which members find each other; and one
  /// of the list.
  [[nodiscard]] std::uint64_t set_hash() const noexcept { return set_hash_; }
  [[nodiscard]] std::uint64_t list_hash() const noexcept;

 private:
  void find_order(const Node& node);
  void sort_by_world_rank();

  std::vector<WorldRank> ranks_;
  std::vector<TeamRank> by_world_rank_;  ///< empty if members are consecutive
  TeamRank self_{-1};
  WorldRank own_world_rank_;
  std::int32_t first_on_node_;  ///< the lowest rank of the node, whether or not it is a member
  /// For each world rank from the node's first to its last: its order, or −1.
  std::vector<std::int32_t> order_on_node_;
  std::int32_t own_order_ = -1;
  std::vector<WorldRank> sorted_on_node_;
  std::uint64_t set_hash_ = 0;
  std::optional<TeamNodes> nodes_;  ///< empty if all members are on one node
};

}  // namespace tessera::rma::detail
