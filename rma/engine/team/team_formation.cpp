// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/team/team_formation.hpp"

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/engine/job_state.hpp"

namespace tessera::rma::detail {
namespace {

constexpr std::chrono::seconds join_timeout_without_descriptors{2};

}  // namespace

Status TeamFormation::run(CollectiveCall::Kind kind) {
  TESSERA_RETURN_IF_ERROR(members_.is_leader() ? lead() : follow());
  // The leader's slot size, or the smallest of all leaders': settings may differ.
  Status met = step_.meet({.kind = kind, .bytes = members_.list_hash()});
  memory_.adopt_slot_bytes();
  return met;
}

Status TeamFormation::lead() {
  const Status made = make_memory();
  if (members_.has_other_nodes()) {
    TESSERA_RETURN_IF_ERROR(join_nodes(made));
  }
  return made;
}

Status TeamFormation::follow() {
  const WorldRank leader = members_.leader();
  TESSERA_ASSIGN_OR_RETURN(const JoinMessage message, receive_join(leader));
  if (message.offset == 0) {
    return Status::error_at(leader, Code::no_memory,
                            fmt::format("rank {} found no memory for the team", leader.value));
  }
  memory_.attach(message.offset);
  return {};
}

Status TeamFormation::make_memory() {
  const Result<std::uint64_t> offset = memory_.make();
  const Status sent =
      send_joins_on_node({.key = members_.set_hash(), .offset = offset.ok() ? *offset : 0});
  return offset.ok() ? sent : offset.status();
}

Status TeamFormation::send_joins_on_node(const JoinMessage& message) {
  Node& node = job_.node();
  Status status;
  for (const WorldRank member : members_.ranks()) {
    const int local_rank = node.local_rank_of(member);
    if (member == members_.own_world_rank() || local_rank < 0) {
      continue;
    }
    Status sent = node.send_join(local_rank, message);
    if (status.ok() && !sent.ok()) {
      status = std::move(sent);
    }
  }
  return status;
}

// If any member is gone, that may be why the leader doesn't form the team.
Result<JoinMessage> TeamFormation::receive_join(WorldRank leader) {
  TeamLiveness& liveness = step_.liveness();
  const bool has_other_nodes = members_.has_other_nodes();
  std::uint32_t word = 0;
  LongWait long_wait(job_.settings());
  const auto is_gone = [&] {
    report_if_long(long_wait, job_.log(), [&] {
      return fmt::format("in forming a team of {}: rank {} has not arrived", members_.size(),
                         leader.value);
    });
    word = liveness.check_own_node();
    word = word == 0 && has_other_nodes ? liveness.check_agent_host() : word;
    word = word == 0 && has_other_nodes ? liveness.check_next_node() : word;
    word = word == 0 && job_.is_stopped() ? TeamControl::left(members_.own_world_rank()) : word;
    return word != 0;
  };
  Result<JoinMessage> message =
      job_.node().receive_join(members_.set_hash(), leader, std::cref(is_gone));
  return word == 0 || message.ok() ? std::move(message) : liveness.status_of(word);
}

// Collective among the leaders.
Status TeamFormation::join_nodes(const Status& made) {
  const Status reached = reach_partners();
  const Status& mine = made.ok() ? reached : made;
  std::uint32_t word = send_joins_to_leaders(RegionId{mine.ok() ? memory_.control().memory : 0});
  word = word != 0 ? word : receive_joins_of_leaders(reached.ok());
  if (!mine.ok()) {
    word = step_.liveness().own_failure(mine);
    step_.exchange().send_failure(word, 0);
  }
  if (word != 0 && memory_.exists()) {
    TeamControl& control = memory_.control();
    control.give_up(control.generation.load() & ~TeamControl::given_up_bit, word);
  }
  return mine.ok() && word != 0 ? step_.barrier().broken() : mine;
}

// Connects before it sends join messages, so that a leader that receives this node's failure does
// not wait for it.
Status TeamFormation::reach_partners() {
  const TeamNodes& nodes = members_.nodes();
  for (const std::int32_t index : nodes.partners()) {
    Status reached = retry([&] { return job_.link()->connect(nodes.node(index)); });
    if (!reached.ok() && is_local_resource_error(reached)) {
      return worded(reached.code(), [&] {
        return std::move(reached).context(
            fmt::format("making a team with rank {}", nodes.leader(index).value));
      });
    }
  }
  return {};  // partners that cannot be reached for other reasons are found by later steps
}

std::uint32_t TeamFormation::send_joins_to_leaders(RegionId memory) {
  const TeamNodes& nodes = members_.nodes();
  std::uint32_t word = 0;
  for (const std::int32_t index : nodes.partners()) {
    const Status sent =
        job_.link()->send_join(nodes.leader(index), {.key = members_.set_hash(),
                                                     .sender = members_.own_world_rank().value,
                                                     .memory = memory.value});
    if (!sent.ok() && !is_local_resource_error(sent) && word == 0) {
      word = step_.liveness().explain(index, sent);
    }
  }
  return word;
}

std::uint32_t TeamFormation::receive_joins_of_leaders(bool is_patient) {
  const auto deadline = std::chrono::steady_clock::now() + join_timeout_without_descriptors;
  const TeamNodes& nodes = members_.nodes();
  TeamLiveness& liveness = step_.liveness();
  LongWait long_wait(job_.settings());
  for (const std::int32_t index : nodes.partners()) {
    const WorldRank leader = nodes.leader(index);
    const auto is_gone = [&] {
      report_if_long(long_wait, job_.log(), [&] {
        return fmt::format("in forming a team of {}: rank {} has not arrived", members_.size(),
                           leader.value);
      });
      const bool is_given_up = failure_word() != 0 || job_.is_stopped() ||
                               (!is_patient && std::chrono::steady_clock::now() > deadline);
      return is_given_up || liveness.check_agent_host() != 0 || liveness.check_node(index) != 0 ||
             liveness.check_next_node() != 0;
    };
    const Result<JoinMessage> message =
        job_.node().receive_join(members_.set_hash(), leader, std::cref(is_gone));
    if (!message.ok()) {
      const std::uint32_t word = failure_word();
      return word != 0 ? word : liveness.explain(index, message.status());
    }
    memory_.set_number_on(index, RegionId{message->memory});
  }
  return 0;
}

std::uint32_t TeamFormation::failure_word() const noexcept {
  return memory_.exists() ? memory_.control().broken.load() : 0;
}

}  // namespace tessera::rma::detail
