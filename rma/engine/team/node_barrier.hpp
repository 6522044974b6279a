// SPDX-License-Identifier: BSD-3-Clause
//
// NodeBarrier: the barrier of a team's members on one node, in the words of TeamControl.
//
// Members count their arrival in `arrived`. The last one, or on several nodes the leader, finishes
// the step: it sets `arrived` to 0 and advances `generation`, which the others wait for. A waiting
// member checks at intervals whether members are gone, and gives up the step if one is, or if it is
// interrupted. Then all members get the same error from this step and from all later ones.
//
// Threads: one at a time. Cost: without waiting, two atomic operations.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "rma/base/status.hpp"
#include "rma/engine/team/call_checker.hpp"
#include "rma/engine/team/team_liveness.hpp"
#include "rma/engine/team/team_memory.hpp"
#include "rma/progress/long_wait.hpp"

namespace tessera::rma::detail {

class NodeBarrier {
 public:
  NodeBarrier(JobState& job, const TeamMembers& members, const TeamMemory& memory,
              TeamLiveness& liveness, const CallChecker& checker) noexcept;

  /// On one node: counts this member's arrival. True if it is the last one, which must finish().
  [[nodiscard]] bool is_last_to_arrive() const noexcept {
    return control().arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == count_;
  }
  /// On several nodes: counts the arrival of a member that is not the leader.
  void arrive_for_leader() const noexcept;
  /// Waits until the leader or the last member finishes the step. Errors: that of the step.
  Status wait_for_end(std::uint32_t generation);
  /// On the leader: waits until the node's other members have arrived; false if they give up.
  bool wait_for_arrivals(std::uint32_t generation);
  /// Ends the step after all members have arrived. Errors: that of the step, if it was given up.
  Status finish(std::uint32_t generation) const;

  /// Gives up the step for the reason `word`; returns the error that all members get.
  Status give_up(std::uint32_t generation, std::uint32_t word) const noexcept {
    control().give_up(generation, word);
    return broken();
  }
  /// The error of a team that is broken.
  [[nodiscard]] Status broken() const noexcept {
    return liveness_.status_of(control().broken.load());
  }
  [[nodiscard]] bool is_under_way(std::uint32_t generation) const noexcept {
    return control().generation.load(std::memory_order_acquire) == generation;
  }

  /// For waits in a step that take long. begin_to_wait() marks that this member has reached the
  /// step; others read the marks to name the members that they wait for.
  [[nodiscard]] LongWait begin_to_wait(std::uint32_t generation) const noexcept;
  /// At each liveness interval: gives up the step if a member is gone or this thread is
  /// interrupted, and logs what is waited for.
  /// `sender` is the index of the node that is waited for, or −1.
  void check_long_wait(LongWait& wait, std::uint32_t generation, std::int32_t sender = -1);

 private:
  [[nodiscard]] TeamControl& control() const noexcept { return memory_.control(); }
  void check_members_alive(std::uint32_t generation);
  [[nodiscard]] std::vector<std::int32_t> missing_here(std::uint32_t generation) const;

  JobState& job_;
  const TeamMembers& members_;
  const TeamMemory& memory_;
  TeamLiveness& liveness_;
  const CallChecker& checker_;
  std::uint32_t count_;  ///< of the members on this node
};

// In the header, since each step calls it.
inline Status NodeBarrier::finish(std::uint32_t generation) const {
  TeamControl& control = this->control();
  // All members have arrived, so all have read the result of the step before. Its record is
  // cleared for the next one.
  TeamControl::Check& next = control.check[(generation + 1) % 2];
  next.fingerprint.store(0, std::memory_order_relaxed);
  next.odd.store(0, std::memory_order_relaxed);
  control.arrived.store(0, std::memory_order_relaxed);
  std::uint32_t under_way = generation;
  if (!control.generation.compare_exchange_strong(under_way, TeamControl::after(generation))) {
    return broken();
  }
  if (control.sleepers.load() != 0) {
    futex_wake_all(control.generation);
  }
  return {};
}

}  // namespace tessera::rma::detail
