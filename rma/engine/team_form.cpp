// SPDX-License-Identifier: BSD-3-Clause
//
// How members make a team: what each computes locally, and how they find each other.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <new>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/engine/job_state.hpp"
#include "rma/engine/lost_agent_host.hpp"
#include "rma/engine/team_state.hpp"

namespace tessera::rma::detail {
namespace {

// FNV-1a over the ranks, in their order.
std::uint64_t hash_ranks(std::span<const WorldRank> members) noexcept {
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325;
  for (const WorldRank rank : members) {
    hash = (hash ^ static_cast<std::uint32_t>(rank.value)) * 0x100'0000'01b3;
  }
  return hash;
}

}  // namespace

std::vector<WorldRank> TeamState::sorted_members() const {
  std::vector<WorldRank> sorted = members_;
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

void TeamState::find_control_makers() {
  sorted_on_node_ = sorted_members();
  key_ = hash_ranks(sorted_on_node_);
  std::erase_if(sorted_on_node_, [&](WorldRank rank) { return node_->local_rank_of(rank) < 0; });
}

// The reserve has all the memory that is needed to report a failure to the others.
Result<std::shared_ptr<TeamState>> TeamState::create(JobState& job,
                                                     const std::shared_ptr<JobState>& keep_job,
                                                     std::span<const WorldRank> members) {
  const auto prepared = [&] { return prepare(job, keep_job, members); };
  auto kind = CollectiveCall::Kind::form;
  Result<std::shared_ptr<TeamState>> team = catch_bad_alloc(prepared);
  if (team.status().code() == Code::no_memory) {
    kind = CollectiveCall::Kind::without_memory;
    job.reserve.give();
    team = catch_bad_alloc(prepared);
  }
  Status formed = team.ok() ? (*team)->form(kind).context("forming a team") : team.status();
  if (kind == CollectiveCall::Kind::without_memory) {
    team = formed.ok() ? Status::no_memory("forming a team: no member has memory for it") : formed;
    job.reserve.refill();
  }
  TESSERA_RETURN_IF_ERROR(formed);
  return team;
}

// Local: computes what a member can know without the others.
Result<std::shared_ptr<TeamState>> TeamState::prepare(JobState& job,
                                                      const std::shared_ptr<JobState>& keep_job,
                                                      std::span<const WorldRank> members) {
  std::shared_ptr<TeamState> team(
      new TeamState(job, keep_job, std::vector<WorldRank>(members.begin(), members.end())));
  TESSERA_RETURN_IF_ERROR(team->check_members());
  team->find_order();
  TESSERA_RETURN_IF_ERROR(team->find_nodes());
  team->find_control_makers();
  return team;
}

Status TeamState::check_members() const {
  if (members_.empty()) {
    return Status::error(Code::invalid_argument, "a team needs at least one member");
  }
  const std::vector<WorldRank> sorted = sorted_members();
  if (sorted.front().value < 0 || sorted.back().value >= job_.size) {
    const WorldRank wrong = sorted.front().value < 0 ? sorted.front() : sorted.back();
    return Status::error(Code::invalid_argument,
                         fmt::format("rank {} cannot be in a team: the job has ranks 0 to {}",
                                     wrong.value, job_.size - 1));
  }
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    return Status::error(Code::invalid_argument,
                         fmt::format("rank {} is in the team's list twice", twice->value));
  }
  if (!std::binary_search(sorted.begin(), sorted.end(), job_.rank)) {
    return Status::error(
        Code::invalid_argument,
        fmt::format("rank {} makes a team but is not in its list of members", job_.rank.value));
  }
  return {};
}

void TeamState::find_order() {
  const bool consecutive =
      std::adjacent_find(members_.begin(), members_.end(), [](WorldRank a, WorldRank b) {
        return b.value != a.value + 1;
      }) == members_.end();
  if (!consecutive) {
    by_world_rank_.resize(members_.size());
    for (std::size_t i = 0; i < members_.size(); ++i) {
      by_world_rank_[i] = TeamRank{static_cast<std::int32_t>(i)};
    }
    std::sort(by_world_rank_.begin(), by_world_rank_.end(), [&](TeamRank a, TeamRank b) {
      return members_[static_cast<std::size_t>(a.value)] <
             members_[static_cast<std::size_t>(b.value)];
    });
  }
  order_on_node_.assign(static_cast<std::size_t>(node_->hull()), -1);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (members_[i] == job_.rank) {
      rank_ = TeamRank{static_cast<std::int32_t>(i)};
      order_ = node_members_;
    }
    if (node_->local_rank_of(members_[i]) >= 0) {
      order_on_node_[static_cast<std::size_t>(members_[i].value - node_->ranks().front().value)] =
          node_members_++;
    }
  }
}

// The lowest rank makes the shared part and sends its offset to the others. Members find each other
// by a hash of the set of ranks; the first meeting checks that all gave them in the same order. On
// several nodes, the lowest rank of each node does so, and all of these exchange join messages.
Status TeamState::form(CollectiveCall::Kind kind) {
  const WorldRank maker = sorted_on_node_.front();
  if (job_.rank == maker) {
    const Result<std::uint64_t> offset = make_control(key_);
    if (nodes_) {
      TESSERA_RETURN_IF_ERROR(join_nodes(key_, offset.status()));
    }
    TESSERA_RETURN_IF_ERROR(offset.status());
  } else {
    TESSERA_ASSIGN_OR_RETURN(const JoinMessage invitation, receive_join(key_, maker));
    if (invitation.offset == 0) {
      return Status::error_at(maker, Code::no_memory,
                              fmt::format("rank {} found no memory for the team", maker.value));
    }
    control_offset_ = invitation.offset;
  }
  control_ = reinterpret_cast<TeamControl*>(node_->arena().at(control_offset_));
  // The maker's slot size, or the smallest of all makers': settings may differ.
  Status met = meet({.kind = kind, .bytes = hash_ranks(members_)});
  slot_bytes_ = control_->slot_bytes;
  is_formed_ = true;
  return met;
}

// If any member is gone, that may be why the maker doesn't form the team.
Result<JoinMessage> TeamState::receive_join(std::uint64_t key, WorldRank maker) {
  std::uint32_t word = 0;
  LongWait long_wait(job_.settings);
  const auto in_vain = [&] {
    report_if_long(long_wait, job_.log, [&] {
      return fmt::format("in forming a team of {}: rank {} has not arrived", size(), maker.value);
    });
    word = check_own_node();
    word = word == 0 && nodes_ ? failure_word_of_lost_agent_host(*node_) : word;
    word = word == 0 && nodes_ ? check_next_node() : word;
    return word != 0;
  };
  Result<JoinMessage> invitation = node_->accept(key, maker, std::cref(in_vain));
  return word == 0 || invitation.ok() ? std::move(invitation) : status_of(word);
}

Result<std::uint64_t> TeamState::make_control(std::uint64_t key) {
  Arena& arena = node_->arena();
  Result<std::uint64_t> offset = arena.allocate(control_bytes());
  Status status = offset.status();
  if (status.ok()) {
    status = arena.back(*offset, control_bytes());
    if (!status.ok()) {
      arena.free(*offset, control_bytes());
    }
  }
  RegionId memory;
  if (status.ok() && nodes_) {
    const Result<RegionId> published = publish_control(*offset);
    status = published.status();
    if (!status.ok()) {
      arena.free(*offset, control_bytes());
    } else {
      memory = *published;
    }
  }
  if (status.ok()) {
    control_offset_ = *offset;
    control_ = new (arena.at(*offset)) TeamControl;
    control_->slot_bytes = slot_bytes_;
    control_->bytes = control_bytes();
    control_->memory = memory.value;
  }
  Status invited = send_joins_on_node({.key = key, .offset = status.ok() ? *offset : 0});
  if (status.ok()) {
    status = std::move(invited);
  }
  if (!status.ok()) {
    return status;
  }
  return offset;
}

Status TeamState::send_joins_on_node(const JoinMessage& invitation) {
  Status status;
  for (const WorldRank member : members_) {
    const int place = node_->local_rank_of(member);
    if (member == job_.rank || place < 0) {
      continue;
    }
    Status sent = node_->invite(place, invitation);
    if (status.ok() && !sent.ok()) {
      status = std::move(sent);
    }
  }
  return status;
}

}  // namespace tessera::rma::detail
