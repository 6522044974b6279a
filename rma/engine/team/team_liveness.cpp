// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/team/team_liveness.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <optional>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/engine/connection_loss_word.hpp"
#include "rma/engine/job_state.hpp"
#include "rma/node/agent_host.hpp"

namespace tessera::rma::detail {

TeamLiveness::TeamLiveness(JobState& job, const TeamMembers& members, const TeamMemory& memory)
    : job_(job),
      members_(members),
      memory_(memory),
      last_checked_node_(members.has_other_nodes() ? members.nodes().own() : 0) {}

std::uint32_t TeamLiveness::check_own_node() const {
  const Node& node = job_.node();
  for (const WorldRank member : members_.ranks()) {
    const int local_rank = node.local_rank_of(member);
    if (local_rank >= 0 && node.is_gone(local_rank)) {
      return node.has_left(local_rank) ? TeamControl::left(member) : TeamControl::died(member);
    }
  }
  return 0;
}

std::uint32_t TeamLiveness::check_agent_host() const {
  const Node& node = job_.node();
  return has_lost_agent_host(node) ? TeamControl::died(agent_host_of(node)) : 0;
}

// In this order, as members may leave after they got an error.
std::uint32_t TeamLiveness::check_node(std::int32_t index) const {
  const TeamNodes& nodes = members_.nodes();
  const RegionId memory = memory_.number_on(index);
  Result<std::optional<std::uint32_t>> broken = std::optional(std::uint32_t{0});
  if (memory.value != 0) {
    broken = job_.link()->read_word(nodes.node(index), memory, offsetof(TeamControl, broken));
  }
  if (broken.ok() && broken->value_or(0) != 0) {
    return **broken;
  }
  if (broken.ok() && !broken->has_value()) {
    return 0;  // its agent would not answer about its ranks either
  }
  const std::uint32_t gone = check_ranks_of_node(index);
  if (gone != 0 || broken.ok() || is_local_resource_error(broken.status())) {
    return gone;
  }
  // A node that has freed the team's memory although no rank is gone has finished its last step, or
  // has reported why it gave up. What it sent is on its way.
  const std::uint32_t word = explain(index, broken.status());
  const bool says_nothing =
      broken.status().code() == Code::closed && word == TeamControl::left(nodes.leader(index));
  return says_nothing ? 0 : word;
}

std::uint32_t TeamLiveness::check_ranks_of_node(std::int32_t index) const {
  for (const WorldRank rank : members_.nodes().ranks(index)) {
    const Result<PeerState> peer_state = job_.link()->peer_state_of(rank);
    if (!peer_state.ok() && is_local_resource_error(peer_state.status())) {
      continue;
    }
    if (!peer_state.ok()) {
      return failure_word_of_silent_node(rank, peer_state.status());
    }
    if (*peer_state == PeerState::died) {
      return TeamControl::died(rank);
    }
    if (*peer_state == PeerState::left) {
      return TeamControl::left(rank);
    }
  }
  return 0;
}

// The failure word for a rank whose node does not answer. If its port is closed, or another
// program's, its process has ended. But while the job starts, the address may simply be wrong.
std::uint32_t TeamLiveness::failure_word_of_silent_node(WorldRank rank,
                                                        const Status& error) const noexcept {
  const ConnectionLoss contact = job_.link()->contact(job_.nodes().node_of(rank));
  const bool is_closed =
      (error.code() == Code::peer_lost || error.code() == Code::protocol) && !contact.is_lost;
  return is_closed && job_.world() ? TeamControl::died(rank)
                                   : ConnectionLossWord::of(rank, contact);
}

std::uint32_t TeamLiveness::check_next_node() {
  const TeamNodes& nodes = members_.nodes();
  last_checked_node_ = (last_checked_node_ + 1) % nodes.count();
  if (last_checked_node_ == nodes.own()) {
    last_checked_node_ = (last_checked_node_ + 1) % nodes.count();
  }
  return check_ranks_of_node(last_checked_node_);
}

bool TeamLiveness::has_not_entered(std::int32_t index, std::uint32_t generation) const {
  const RegionId memory = memory_.number_on(index);
  if (memory.value == 0) {
    return true;
  }
  const auto entered =
      job_.link()->read_word(members_.nodes().node(index), memory, offsetof(TeamControl, entered));
  return entered.ok() && *entered == generation;  // false if that is not known
}

std::uint32_t TeamLiveness::explain(std::int32_t index, const Status& error) const noexcept {
  const TeamNodes& nodes = members_.nodes();
  job_.log().line(LogLevel::debug, [&] {
    return fmt::format("a team's exchange with rank {}: {}", nodes.leader(index).value,
                       error.describe());
  });
  if (is_local_resource_error(error)) {
    return own_failure(error);
  }
  std::uint32_t word = check_ranks_of_node(index);
  for (std::int32_t other = 0; other < nodes.count() && word == 0; ++other) {
    word = other == nodes.own() ? check_own_node() : check_ranks_of_node(other);
  }
  word = word != 0 ? word : check_agent_host();
  if (word != 0) {
    return word;
  }
  // Its ranks answer, or nothing is known about them: none is reported dead.
  return error.code() == Code::closed
             ? TeamControl::left(nodes.leader(index))
             : ConnectionLossWord::of(nodes.leader(index), job_.link()->contact(nodes.node(index)));
}

std::uint32_t TeamLiveness::own_failure(const Status& error) const noexcept {
  const bool is_lost = error.code() == Code::peer_lost && error.rank().has_value();
  return is_lost ? TeamControl::died(*error.rank())
                 : TeamControl::without_memory(members_.own_world_rank());
}

void TeamLiveness::record_loss(WorldRank rank, bool has_died) const noexcept {
  if (job_.link() != nullptr && rank.value >= 0 && job_.node().local_rank_of(rank) < 0) {
    job_.link()->record_loss(rank, has_died);
  }
}

Status TeamLiveness::status_of(std::uint32_t word) const noexcept {
  if (ConnectionLossWord::is(word)) {
    const ConnectionLossWord lost(word);
    record_loss(lost.rank(), false);
    return lost.status(members_.own_world_rank());
  }
  constexpr std::uint32_t bits = TeamControl::left_bit | TeamControl::no_memory_bit;
  const WorldRank rank{static_cast<std::int32_t>(word & ~bits) - 1};
  const bool is_interrupted = (word & bits) == bits;
  const Code code = (word & TeamControl::left_bit) != 0        ? Code::closed
                    : (word & TeamControl::no_memory_bit) != 0 ? Code::no_memory
                                                               : Code::peer_lost;
  if (code == Code::peer_lost) {
    record_loss(rank, true);
  }
  const char* const what = is_interrupted ? "was interrupted in a collective, which broke the team"
                           : code == Code::no_memory ? "found no memory for the team"
                           : code == Code::closed
                               ? "has left the job and takes part in no further collectives"
                               : "died";
  return worded(code, [&] {
    return Status::error_at(rank, code, fmt::format("rank {} {}", rank.value, what));
  });
}

}  // namespace tessera::rma::detail
