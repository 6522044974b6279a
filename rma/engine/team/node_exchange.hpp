// SPDX-License-Identifier: BSD-3-Clause
//
// NodeExchange: brings what a step delivers to the team's other nodes, and finds it there.
//
// The leader packs its node's block, and exchanges blocks with other leaders in rounds
// (team_nodes.hpp explains which). A summary of what was called and what failed travels with the
// blocks. Members read other nodes' blocks in the mailboxes.
//
// If a leader gives up, it sends the failure word in place of what others still wait for, so that
// they report the same cause.
//
// Threads: one at a time. Memory: the leader keeps the largest message that it has sent.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "rma/base/status.hpp"
#include "rma/engine/team/collective_call.hpp"
#include "rma/engine/team/node_barrier.hpp"
#include "rma/engine/team/team_liveness.hpp"
#include "rma/engine/team/team_memory.hpp"

namespace tessera::rma::detail {

/// What leaders do after all members of all nodes have arrived; returns a failure word.
using LeadersWork = std::function<std::uint32_t()>;

/// What a step delivers to the other nodes: `bytes` of each member, of the root, or of each node,
/// whose leader combines its members' slots. All of them are at the beginning of slots.
struct StepPayload {
  enum class Kind : std::uint8_t { nothing, of_root, of_each, combined };
  Kind kind = Kind::nothing;
  std::size_t bytes = 0;
  std::uint32_t phase = 0;
  const LeadersWork* leaders_work = nullptr;  ///< after the exchange; null: nothing
};

/// Requires: the team has members on other nodes, for all functions but the constructor. Functions
/// that return std::uint32_t return a failure word; 0: nothing failed.
class NodeExchange {
 public:
  NodeExchange(JobState& job, const TeamMembers& members, const TeamMemory& memory,
               TeamLiveness& liveness, NodeBarrier& barrier);

  /// On all members: the step of this generation begins.
  void begin(std::uint32_t generation) noexcept { generation_ = generation; }

  /// On the leader: reserves the memory before other nodes wait for what is sent from it. False if
  /// there is none.
  bool reserve(const StepPayload& payload) noexcept;
  /// On the leader: all rounds. `summary` becomes that of all nodes.
  std::uint32_t run(StepSummary& summary, const CollectiveCall& call, const StepPayload& payload);
  /// On the leader: sends the failure to the leaders that wait for this one from `first_round` on.
  void send_failure(std::uint32_t word, int first_round);
  /// On the leader: waits until a partner has advanced a counter in this node's memory.
  std::uint32_t wait_for_counter(std::atomic<std::uint64_t>& counter, std::uint64_t at_least,
                                 std::int32_t partner);

  /// After the step: where the data of a member, of the root, or of a node's members are.
  [[nodiscard]] const std::byte* piece_of_member(TeamRank member,
                                                 const StepPayload& payload) const noexcept;
  [[nodiscard]] const std::byte* piece_of_root(TeamRank root,
                                               const StepPayload& payload) const noexcept;
  [[nodiscard]] const std::byte* piece_of_node(std::int32_t index,
                                               const StepPayload& payload) const noexcept;

 private:
  [[nodiscard]] std::size_t bytes_of_blocks(std::int32_t blocks,
                                            const StepPayload& payload) const noexcept;
  [[nodiscard]] std::size_t own_block_bytes(const StepPayload& payload) const noexcept;
  void pack_own(const CollectiveCall& call, const StepPayload& payload, std::byte* block) const;
  Status send(int round, std::size_t data_bytes);
  std::uint32_t wait_for_mail(int round);
  template <class IsEnough>
  std::uint32_t wait_for_word(std::atomic<std::uint64_t>& word, std::int32_t sender,
                              const IsEnough& is_enough);
  std::uint32_t check_sender(std::int32_t sender, std::uint32_t& gone_before);
  std::uint32_t give_up(std::uint32_t found, const StepSummary& summary, int round);
  [[nodiscard]] const std::byte* block_from(std::int32_t index, std::size_t offset) const noexcept;

  JobState& job_;
  const TeamMembers& members_;
  const TeamMemory& memory_;
  TeamLiveness& liveness_;
  NodeBarrier& barrier_;
  std::vector<std::byte> outbox_;  ///< of the leader: a summary, then its node's block, …
  std::uint32_t generation_ = 0;   ///< of the last step
};

}  // namespace tessera::rma::detail
