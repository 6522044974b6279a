// SPDX-License-Identifier: BSD-3-Clause
//
// Groups of processes, processes and nodes.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "fortran/ga/operations.hpp"
#include "fortran/ga/session.hpp"

namespace tessera::ga {

namespace {

using rma::WorldRank;

Result<Session*> running_session() {
  Session* const session = Session::current();
  if (session == nullptr) {
    return not_running();
  }
  return session;
}

/// Collective over `members`, in this order. Other processes may call it too; they know the group,
/// but aren't members.
Result<std::int64_t> make_group(Session& session, std::vector<WorldRank> members) {
  std::vector<int> numbers;
  numbers.reserve(members.size());
  for (const WorldRank member : members) {
    numbers.push_back(member.value);
  }
  constexpr ARMCI_Group world = rma::armci::Groups::world;
  auto& groups = session.below.groups;
  TESSERA_ASSIGN_OR_RETURN(const ARMCI_Group below, groups.create(session.job(), numbers, &world));
  rma::Team team;
  if (!rma::armci::Groups::is_none(&below)) {
    TESSERA_ASSIGN_OR_RETURN(const auto* const made, groups.find(&below));
    team = made->team;
  }
  return session.add_group(std::move(team), std::move(members), below).number;
}

/// The members of `group` with this process's color, in the group's order. Collective.
Result<std::int64_t> split_by_color(Group& group, std::int64_t color) {
  TESSERA_RETURN_IF_ERROR(group.check_member());
  TESSERA_ASSIGN_OR_RETURN(const auto colors, group.team.allgather_value(color));
  std::vector<WorldRank> members;
  for (std::size_t rank = 0; rank < colors.size(); ++rank) {
    if (colors[rank] == color) {
      members.push_back(group.members[rank]);
    }
  }
  return make_group(*Session::current(), std::move(members));
}

Result<WorldRank> member_of(const Group& group, std::int64_t rank) {
  if (rank < 0 || rank >= group.size()) {
    return Status::error(
        Code::invalid_argument,
        fmt::format("there is no process {} in a group of {}", rank, group.size()));
  }
  return group.members[static_cast<std::size_t>(rank)];
}

/// The processes on a node, in ascending order.
std::vector<std::int64_t> ranks_on(const rma::Job& job, std::int64_t node) {
  std::vector<std::int64_t> ranks;
  for (std::int32_t rank = 0; rank < job.size(); ++rank) {
    if (job.node_of(WorldRank{rank}).value == node) {
      ranks.push_back(rank);
    }
  }
  return ranks;
}

Status check_node(const rma::Job& job, std::int64_t node) {
  return node >= 0 && node < job.node_count()
             ? Status()
             : Status::error(
                   Code::invalid_argument,
                   fmt::format("there is no node {}; the job has {}", node, job.node_count()));
}

}  // namespace

std::int64_t nnodes() noexcept {
  return default_ranks().count;
}

std::int64_t nodeid() noexcept {
  return default_ranks().own;
}

Result<std::int64_t> cluster_nnodes() {
  TESSERA_ASSIGN_OR_RETURN(const Session* const session, running_session());
  return session->job().node_count();
}

Result<std::int64_t> cluster_nodeid() {
  TESSERA_ASSIGN_OR_RETURN(const Session* const session, running_session());
  return session->job().node_of(session->job().rank()).value;
}

// A negative number means this process's node, as in ARMCI's domains.
Result<std::int64_t> cluster_nprocs(std::int64_t node) {
  TESSERA_ASSIGN_OR_RETURN(const Session* const session, running_session());
  if (node < 0) {
    node = session->job().node_of(session->job().rank()).value;
  }
  TESSERA_RETURN_IF_ERROR(check_node(session->job(), node));
  return std::ssize(ranks_on(session->job(), node));
}

Result<std::int64_t> cluster_procid(std::int64_t node, std::int64_t number) {
  TESSERA_ASSIGN_OR_RETURN(const Session* const session, running_session());
  TESSERA_RETURN_IF_ERROR(check_node(session->job(), node));
  const auto ranks = ranks_on(session->job(), node);
  if (number < 0 || number >= std::ssize(ranks)) {
    return Status::error(
        Code::invalid_argument,
        fmt::format("there is no process {} on node {}, which has {}", number, node, ranks.size()));
  }
  return ranks[static_cast<std::size_t>(number)];
}

Result<std::int64_t> cluster_proc_nodeid(std::int64_t rank) {
  TESSERA_ASSIGN_OR_RETURN(Session* const session, running_session());
  TESSERA_ASSIGN_OR_RETURN(Group* const world, session->find_group(Group::world));
  TESSERA_ASSIGN_OR_RETURN(const WorldRank member, member_of(*world, rank));
  return session->job().node_of(member).value;
}

Status list_nodeid(const ListOut& list) {
  TESSERA_RETURN_IF_ERROR(running_session().status());
  for (std::int64_t rank = 0; rank < list.room(); ++rank) {
    list.set(rank, rank);
  }
  return {};
}

Result<std::int64_t> pgroup_create(std::span<const std::int64_t> ranks) {
  TESSERA_ASSIGN_OR_RETURN(Session* const session, running_session());
  std::vector<std::int64_t> sorted(ranks.begin(), ranks.end());
  std::sort(sorted.begin(), sorted.end());
  std::vector<WorldRank> members;
  for (const std::int64_t rank : sorted) {
    TESSERA_ASSIGN_OR_RETURN(const WorldRank member, member_of(session->default_group(), rank));
    members.push_back(member);
  }
  return make_group(*session, std::move(members));
}

namespace {

Status check_unused(const Group& group) {
  for (const Record* const record : Records::all()) {
    if (record->plan.group == &group) {
      return Status::error(Code::invalid_argument, fmt::format("group {} has an array: {}",
                                                               group.number, record->describe()))
          .hint("destroy the arrays of a group before it");
    }
  }
  return {};
}

}  // namespace

Result<bool> pgroup_destroy(Group& group) {
  if (group.number <= Group::mirror) {
    return Status::error(Code::invalid_argument,
                         "the groups of all processes and of a node's can't be destroyed");
  }
  TESSERA_RETURN_IF_ERROR(check_unused(group));
  Session& session = *Session::current();
  ARMCI_Group below = group.below;
  session.remove_group(group);
  TESSERA_RETURN_IF_ERROR(session.below.groups.free(&below));
  return true;
}

Result<std::int64_t> pgroup_duplicate(Group& group) {
  TESSERA_RETURN_IF_ERROR(group.check_member());
  return make_group(*Session::current(), group.members);
}

Result<std::int64_t> pgroup_self() {
  TESSERA_ASSIGN_OR_RETURN(Session* const session, running_session());
  return make_group(*session, {session->job().rank()});
}

Result<std::int64_t> pgroup_split(Group& group, std::int64_t parts) {
  if (parts < 1) {
    return Status::error(Code::invalid_argument, fmt::format("a split in {} groups", parts));
  }
  const std::int64_t each = (group.size() + parts - 1) / parts;
  return split_by_color(group, group.rank / each);
}

Result<std::int64_t> pgroup_split_irreg(Group& group, std::int64_t color) {
  return split_by_color(group, color);
}

Result<std::int64_t> pgroup_get_default() {
  TESSERA_ASSIGN_OR_RETURN(const Session* const session, running_session());
  return session->default_group().number;
}

Status pgroup_set_default(Group& group) {
  TESSERA_RETURN_IF_ERROR(group.check_member());
  Session::current()->set_default_group(group);
  return Session::current()->below.groups.set_default(&group.below);
}

Result<std::int64_t> pgroup_get_mirror() {
  return Group::mirror;
}

Result<std::int64_t> pgroup_get_world() {
  return Group::world;
}

Result<std::int64_t> pgroup_nnodes(Group& group) {
  return group.size();
}

Result<std::int64_t> pgroup_nodeid(Group& group) {
  return group.rank;
}

Result<std::int64_t> pgroup_absolute_id(Group& group, std::int64_t rank) {
  TESSERA_ASSIGN_OR_RETURN(const WorldRank member, member_of(group, rank));
  return member.value;
}

Result<std::int64_t> get_pgroup(Record& record) {
  return record.plan.group == nullptr ? default_group().number : record.plan.group->number;
}

}  // namespace tessera::ga
