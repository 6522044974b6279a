// SPDX-License-Identifier: BSD-3-Clause
//
// TeamLiveness: finds members of a team that died, left or cannot be reached, and converts failure
// words (team_control.hpp) to errors.
//
// Nodes share their knowledge by the failure word in each TeamControl, which leaders of other nodes
// read. If a node does not answer, its ranks' states decide.
//
// Threads: one at a time. Cost: check_own_node() reads a word for each member on this node; the
// other checks send a request to another node.
#pragma once

#include <cstdint>

#include "rma/base/status.hpp"
#include "rma/engine/team/team_members.hpp"
#include "rma/engine/team/team_memory.hpp"

namespace tessera::rma::detail {

class JobState;

/// Functions that return std::uint32_t return a failure word; 0: nothing was found.
class TeamLiveness {
 public:
  TeamLiveness(JobState& job, const TeamMembers& members, const TeamMemory& memory);

  /// The first member on this node that is gone.
  [[nodiscard]] std::uint32_t check_own_node() const;
  /// This node's agent host if it has died, whether or not it is a member: after its death no
  /// message from another node arrives here.
  [[nodiscard]] std::uint32_t check_agent_host() const;
  /// The failure word of the team on that node, else that of the first member there that is gone.
  [[nodiscard]] std::uint32_t check_node(std::int32_t index) const;
  /// The members of one other node, the next one at each call. A rank may wait for a node whose
  /// members found a death and therefore don't arrive; so it finds the dead rank itself.
  std::uint32_t check_next_node();

  /// Whether some members of that node have not arrived at the step yet. If so, no node has
  /// finished the step. A rank that was found gone before this call then never will.
  [[nodiscard]] bool has_not_entered(std::int32_t index, std::uint32_t generation) const;

  /// The failure word for an error from that node. If the node no longer has the memory, it gave up
  /// the team for a reason: a rank of some node.
  [[nodiscard]] std::uint32_t explain(std::int32_t index, const Status& error) const noexcept;
  /// The failure word of a leader that could not set up its node's part of the team.
  [[nodiscard]] std::uint32_t own_failure(const Status& error) const noexcept;

  /// The error for a failure word. Also notes the rank as lost, to answer questions about it if its
  /// node does not answer them.
  [[nodiscard]] Status status_of(std::uint32_t word) const noexcept;

 private:
  [[nodiscard]] std::uint32_t check_ranks_of_node(std::int32_t index) const;
  [[nodiscard]] std::uint32_t failure_word_of_silent_node(WorldRank rank,
                                                          const Status& error) const noexcept;
  void record_loss(WorldRank rank, bool has_died) const noexcept;

  JobState& job_;
  const TeamMembers& members_;
  const TeamMemory& memory_;
  std::int32_t last_checked_node_;  ///< index of the node that check_next_node() checked last
};

}  // namespace tessera::rma::detail
