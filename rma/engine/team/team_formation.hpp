// SPDX-License-Identifier: BSD-3-Clause
//
// TeamFormation: how members make a team's memory and find each other. Used while a team is formed.
//
// The leader of each node makes the team's memory there and sends its offset to the other members
// on the node, in join messages. On several nodes, leaders also exchange join messages with those
// that they exchange data with, which bring the numbers of the memories. Members find each other by
// a hash of the set of ranks. The team's first step checks that all gave them in the same order.
//
// If anything fails on a node, its leader reports that to the members that would wait for it: in a
// join message without memory, in its part of the forming step, or in its control.
#pragma once

#include <cstdint>

#include "rma/base/result.hpp"
#include "rma/base/status.hpp"
#include "rma/engine/team/collective_step.hpp"

namespace tessera::rma::detail {

class TeamFormation {
 public:
  TeamFormation(JobState& job, CollectiveStep& step) noexcept
      : job_(job), step_(step), members_(step.members()), memory_(step.memory()) {}

  /// Collective. `kind` is `form`, or `without_memory` if this member reports that. Errors:
  /// peer_lost, closed, unreachable, no_memory, limit_exceeded; invalid_argument if members gave
  /// the ranks in different orders.
  Status run(CollectiveCall::Kind kind);

 private:
  Status lead();
  Status follow();
  Status make_memory();
  Status send_joins_on_node(const JoinMessage& message);
  Result<JoinMessage> receive_join(WorldRank leader);

  // Among leaders.
  Status join_nodes(const Status& made);
  Status reach_partners();
  std::uint32_t send_joins_to_leaders(RegionId memory);
  /// Not patient: if this node couldn't reach all partners, one of them may be unable to send it a
  /// join message. Then the wait has a limit.
  std::uint32_t receive_joins_of_leaders(bool is_patient);
  [[nodiscard]] std::uint32_t failure_word() const noexcept;

  JobState& job_;
  CollectiveStep& step_;
  const TeamMembers& members_;
  TeamMemory& memory_;
};

}  // namespace tessera::rma::detail
