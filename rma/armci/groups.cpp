// SPDX-License-Identifier: BSD-3-Clause
#include "rma/armci/groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace tessera::rma::armci {

Groups& Groups::operator=(Groups&& other) noexcept {
  groups_ = std::move(other.groups_);
  next_ = other.next_;
  default_ = other.default_;
  return *this;
}

Result<Groups> Groups::create(const Job& job) {
  Groups all;
  TESSERA_ASSIGN_OR_RETURN(auto communicator, world_communicator(job));
  all.groups_.emplace(world, Group{job.world(), std::move(communicator)});
  all.next_ = world + 1;
  return all;
}

Result<Group*> Groups::find(const ARMCI_Group* number) {
  if (number == nullptr) {
    return Status::error(Code::invalid_argument, "the pointer to the group is null")
        .hint("ARMCI_Group_get_world and ARMCI_Group_get_default give groups that always exist");
  }
  const std::lock_guard guard(mutex_);
  const auto found = groups_.find(*number);
  if (found == groups_.end()) {
    return Status::error(Code::invalid_argument, fmt::format("there is no group {} here", *number))
        .hint(*number == none ? "this process is not a member of it"
                              : "it was freed, or never created");
  }
  return &found->second;
}

Group& Groups::default_group() {
  const std::lock_guard guard(mutex_);
  return groups_.at(default_);
}

Status Groups::set_default(const ARMCI_Group* number) {
  TESSERA_RETURN_IF_ERROR(find(number).status());
  default_ = *number;
  return {};
}

Result<ARMCI_Group> Groups::add(Team team) {
  TESSERA_ASSIGN_OR_RETURN(auto communicator,
                           team_communicator(groups_.at(world).communicator, team));
  const std::lock_guard guard(mutex_);
  const ARMCI_Group number = next_++;
  groups_.emplace(number, Group{std::move(team), std::move(communicator)});
  return number;
}

Result<ARMCI_Group> Groups::create(Job& job, std::span<const int> ranks,
                                   const ARMCI_Group* parent) {
  TESSERA_ASSIGN_OR_RETURN(Group* const whole, find(parent));
  std::vector<WorldRank> members;
  members.reserve(ranks.size());
  bool is_member = false;
  for (const int rank : ranks) {
    if (rank < 0 || rank >= whole->team.size()) {
      return Status::error(Code::invalid_argument,
                           fmt::format("there is no process {} in the parent of {} processes", rank,
                                       whole->team.size()))
          .hint("list members by their ranks in the parent, which begin with 0");
    }
    members.push_back(whole->team.world_rank(TeamRank{rank}));
    is_member = is_member || members.back() == job.rank();
  }
  if (!is_member) {
    return none;
  }
  TESSERA_ASSIGN_OR_RETURN(Team team, Team::create(job, members));
  return add(std::move(team));
}

Result<ARMCI_Group> Groups::split(const ARMCI_Group* parent, int color, int key) {
  TESSERA_ASSIGN_OR_RETURN(Group* const whole, find(parent));
  TESSERA_ASSIGN_OR_RETURN(Team team, whole->team.split(color, key));
  return add(std::move(team));
}

Status Groups::free(ARMCI_Group* number) {
  if (is_none(number)) {
    return {};
  }
  TESSERA_ASSIGN_OR_RETURN(Group* const group, find(number));
  if (*number == world) {
    return Status::error(Code::invalid_argument, "the group of all processes can't be freed")
        .hint("free only what ARMCI_Group_create, _create_child, ARMCIX_Group_split or _dup gave");
  }
  Status synchronised = group->team.barrier();
  const std::lock_guard guard(mutex_);
  groups_.erase(*number);
  default_ = default_ == *number ? world : default_;
  *number = none;
  return synchronised;
}

void Groups::clear() {
  const std::lock_guard guard(mutex_);
  groups_.clear();
}

namespace {

// The group's members on this node, or its first member on each node.
std::vector<WorldRank> members_in(const Job& job, const Team& team, Scope scope) {
  std::vector<WorldRank> chosen;
  std::set<NodeId> seen;
  for (const WorldRank each : team.members()) {
    const bool is_first = seen.insert(job.node_of(each)).second;
    if (scope == Scope::node ? job.shares_node(each) : is_first) {
      chosen.push_back(each);
    }
  }
  return chosen;
}

}  // namespace

Result<Team*> team_of(Job& job, Group& group, Scope scope) {
  if (scope == Scope::all) {
    return &group.team;
  }
  Team& team = scope == Scope::node ? group.node : group.masters;
  if (!team) {
    const auto members = members_in(job, group.team, scope);
    if (std::find(members.begin(), members.end(), job.rank()) == members.end()) {
      return static_cast<Team*>(nullptr);
    }
    TESSERA_ASSIGN_OR_RETURN(team, Team::create(job, members));
  }
  return &team;
}

}  // namespace tessera::rma::armci
