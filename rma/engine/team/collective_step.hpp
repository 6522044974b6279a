// SPDX-License-Identifier: BSD-3-Clause
//
// CollectiveStep: the step of which all collectives are made. Members write into their slots, meet,
// and read the others' slots.
//
// Two sets of slots alternate, so that one meeting per step suffices. A member writes a set again
// only after a later meeting, which no member reaches before it has read that set. A meeting also
// compares what its members called, without further synchronisation.
//
// If the members are on several nodes, those of a node meet in its memory. When all of them have
// arrived, the leader exchanges data with the other leaders before it ends the meeting. Members
// read the other nodes' data where it arrived, in the mailboxes.
//
// All members of a node always see the same outcome of a step. If a rank dies during a step, nodes
// may see different outcomes, as some had all that they needed and others not. The next step fails
// on all of them.
//
// Threads: one at a time. Cost: on one node, three atomic operations without waiting; between
// nodes, ⌈log2 nodes⌉ messages of each leader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/base/status.hpp"
#include "rma/engine/team/call_checker.hpp"
#include "rma/engine/team/collective_call.hpp"
#include "rma/engine/team/node_barrier.hpp"
#include "rma/engine/team/node_exchange.hpp"
#include "rma/engine/team/team_liveness.hpp"
#include "rma/engine/team/team_members.hpp"
#include "rma/engine/team/team_memory.hpp"

namespace tessera::rma::detail {

class JobState;
class TeamState;

class CollectiveStep {
 public:
  CollectiveStep(JobState& job, const TeamState& team, const TeamMembers& members);

  /// Collective. Errors: peer_lost, closed, unreachable; invalid_argument if members called
  /// different things; no_memory if a member calls report_no_memory() instead.
  Status meet(const CollectiveCall& call, const StepPayload& payload = {});
  /// The same for a member that reports an error. If members called different things, the message
  /// has the error.
  Status meet_with_error(const Status& error, const CollectiveCall& call,
                         const StepPayload& payload = {});
  /// Meets in place of a call with wrong arguments, since the others wait; returns `error`.
  Status refuse(Status error);
  /// Meets in place of a call for which this member has no memory. All members get no_memory.
  Status report_no_memory() noexcept;

  /// Collective. Returns what body() returns, a Status or a Result; after std::bad_alloc,
  /// report_no_memory().
  /// Requires: wherever body() may throw, the other members still have a step of this team before
  /// them.
  template <class Body>
  std::invoke_result_t<Body> do_together(Body&& body) {
    return catch_bad_alloc(body, [this] { return report_no_memory(); });
  }

  /// Which set of slots is used next: draws a number whose lowest bit is the set.
  [[nodiscard]] std::uint32_t next_phase() noexcept { return phase_++; }
  [[nodiscard]] std::byte* own_slot(std::uint32_t phase) const noexcept {
    return memory_.slot(phase, members_.own_order());
  }
  /// After a step: where a member's data, or the root's, are.
  [[nodiscard]] const std::byte* piece(TeamRank member, const StepPayload& payload) const noexcept {
    return members_.has_other_nodes() ? exchange_.piece_of_member(member, payload)
                                      : memory_.slot(payload.phase, member.value);
  }
  [[nodiscard]] const std::byte* piece_of_root(TeamRank root,
                                               const StepPayload& payload) const noexcept {
    return members_.has_other_nodes() ? exchange_.piece_of_root(root, payload)
                                      : memory_.slot(payload.phase, root.value);
  }

  /// Collective among members that all found that these two passed different requests to agree().
  Status explain_requests(TeamRank first, TeamRank other);

  [[nodiscard]] const TeamMembers& members() const noexcept { return members_; }
  [[nodiscard]] TeamMemory& memory() noexcept { return memory_; }
  [[nodiscard]] CallChecker& checker() noexcept { return checker_; }
  [[nodiscard]] const CallChecker& checker() const noexcept { return checker_; }
  [[nodiscard]] TeamLiveness& liveness() noexcept { return liveness_; }
  [[nodiscard]] NodeBarrier& barrier() noexcept { return barrier_; }
  [[nodiscard]] NodeExchange& exchange() noexcept { return exchange_; }

 private:
  Status meet_over_nodes(std::uint32_t generation, const CollectiveCall& call,
                         const StepPayload& payload);
  Status lead(std::uint32_t generation, const CollectiveCall& call, StepPayload payload);
  Status explain(const TeamControl::Check& check, const CollectiveCall& call) noexcept;
  Status broadcast_report(TeamRank root, std::span<std::byte> report);

  JobState& job_;
  const TeamState& team_;
  const TeamMembers& members_;
  TeamMemory memory_;
  CallChecker checker_;
  TeamLiveness liveness_;
  NodeBarrier barrier_;
  NodeExchange exchange_;
  std::uint32_t phase_ = 0;
};

}  // namespace tessera::rma::detail
