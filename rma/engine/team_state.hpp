// SPDX-License-Identifier: BSD-3-Clause
//
// TeamState: the implementation of a Team. It owns the parts in rma/engine/team/, checks the
// arguments of collectives, and chooses how data travel. A part calls only parts above it:
//
//   TeamMembers, TeamNodes   which ranks, on which nodes; constant
//   TeamMemory               the shared memory: control, mailboxes, slots
//   CallChecker              compares what members call, and words the differences
//   TeamLiveness             finds members that are gone
//   NodeBarrier              waits for the members on this node
//   NodeExchange             sends between nodes
//   CollectiveStep           the step of which all collectives are made: it owns the five above
//   SlotCollectives          short data, a slot's worth in each step
//   PipelinedCollectives     between nodes: data longer than two slots, in pieces
//   StagingWindow            memory in which members leave data for each other; made if needed
//   BackgroundCollectives    non-blocking collectives, and their thread; made if needed
//   agree()                  one status for all members
//   TeamFormation            makes the memory, finds the other members, takes the first step
//
// Limits: Mailboxes take up to 2 × max_mailbox_set_bytes per node and team; long data take as much
// again. Slots and pieces are smaller than the settings ask for if they would exceed that. A death
// on another node is noticed within two liveness intervals for each node that passes it on. If the
// nodes that know of it no longer take part, waiting nodes find out by their own checks: each
// checks one further node per liveness interval.
//
// Threads: one at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"
#include "rma/element.hpp"
#include "rma/engine/team/collective_step.hpp"
#include "rma/engine/team/pipelined_collectives.hpp"
#include "rma/engine/team/slot_collectives.hpp"
#include "rma/engine/team/team_members.hpp"
#include "rma/label.hpp"
#include "rma/team.hpp"

namespace tessera::rma::detail {

class BackgroundCollectives;
class JobState;
class Operation;
class StagingWindow;
struct BackgroundCall;

class TeamState : public std::enable_shared_from_this<TeamState> {
 public:
  /// Collective. `keep_job` is the reference by which a user's team keeps its job alive; null for
  /// the world team, which the job owns. `companion_of`: 0 for a team of the program; else the team
  /// is the companion of that one among those of the same ranks (BackgroundCollectives).
  static Result<std::shared_ptr<TeamState>> create(JobState& job,
                                                   const std::shared_ptr<JobState>& keep_job,
                                                   std::span<const WorldRank> members,
                                                   std::uint32_t companion_of = 0);
  ~TeamState();
  TeamState(const TeamState&) = delete;
  TeamState& operator=(const TeamState&) = delete;

  [[nodiscard]] JobState& job() const noexcept { return job_; }
  [[nodiscard]] const std::shared_ptr<JobState>& keep_job() const noexcept { return keep_job_; }
  [[nodiscard]] const std::vector<WorldRank>& members() const noexcept { return members_.ranks(); }
  [[nodiscard]] TeamRank rank() const noexcept { return members_.self(); }
  [[nodiscard]] std::int32_t size() const noexcept { return members_.size(); }
  [[nodiscard]] TeamRank team_rank(WorldRank rank) const noexcept {
    return members_.team_rank(rank);
  }
  /// The order of a rank among the members on this node, in team order; or −1.
  [[nodiscard]] std::int32_t order_of(WorldRank rank) const noexcept {
    return members_.order_of(rank);
  }
  /// The order of this rank among the members on its node, and how many there are.
  [[nodiscard]] std::int32_t order() const noexcept { return members_.own_order(); }
  [[nodiscard]] std::int32_t node_members() const noexcept { return members_.count_on_node(); }

  Status barrier() { return step_.meet({.kind = CollectiveCall::Kind::barrier}); }
  Status broadcast(std::span<std::byte> bytes, TeamRank root);
  Status allgather(std::span<const std::byte> mine, std::span<std::byte> all);
  Status allreduce(void* elements, std::int64_t count, ElementType type, Reduction reduction,
                   const TeamRank* only_root);
  Status agree(const Status& mine, const AgreedCall& asked);
  /// Local. Starts a barrier or an allreduce; its operation ends when it is complete. Throws
  /// std::bad_alloc.
  [[nodiscard]] std::shared_ptr<Operation> start(BackgroundCall call);
  /// Collective. The memory for exchanges, made at the first call.
  Result<StagingWindow*> staging();
  /// Local. Releases that memory; no exchange may follow.
  void release_staging() noexcept { staging_.reset(); }
  /// Local. Ends the step in which another thread of this rank waits, as this rank leaves the job.
  void give_up_as_left() noexcept;
  void set_options(const TeamOptions& options) noexcept { options_ = options; }
  [[nodiscard]] const TeamOptions& options() const noexcept { return options_; }

  /// See CallChecker.
  const LabelScope* exchange_scope(const LabelScope* scope) noexcept {
    return step_.checker().exchange_scope(scope);
  }
  [[nodiscard]] const Label* label() const noexcept { return step_.checker().label(); }
  /// Draws a number for an object that members make together.
  [[nodiscard]] std::uint64_t draw_number() noexcept { return ++drawn_numbers_; }

  /// See CollectiveStep.
  Status report_no_memory() noexcept { return step_.report_no_memory(); }
  template <class Body>
  std::invoke_result_t<Body> do_together(Body&& body) {
    return step_.do_together(std::forward<Body>(body));
  }

 private:
  TeamState(JobState& job, std::shared_ptr<JobState> keep_job, std::span<const WorldRank> members,
            std::uint32_t companion_of);
  static Result<std::shared_ptr<TeamState>> prepare(JobState& job,
                                                    const std::shared_ptr<JobState>& keep_job,
                                                    std::span<const WorldRank> members,
                                                    std::uint32_t companion_of);
  [[nodiscard]] Status check_root(TeamRank root) const;
  [[nodiscard]] Status check_reduction(const void* elements, std::int64_t count, ElementType type,
                                       Reduction reduction, const TeamRank* only_root) const;

  JobState& job_;
  std::shared_ptr<JobState> keep_job_;  ///< before the parts, which use the job when they end
  TeamMembers members_;
  CollectiveStep step_;
  SlotCollectives in_slots_;
  PipelinedCollectives in_pieces_;
  std::uint64_t drawn_numbers_ = 0;
  TeamOptions options_;
  std::atomic<std::uint32_t>* count_of_same_ = nullptr;  ///< teams of the same ranks
  std::uint32_t number_ = 0;                             ///< of this one among them, from 1
  std::shared_ptr<StagingWindow> staging_;
  std::shared_ptr<BackgroundCollectives> background_;
};

}  // namespace tessera::rma::detail
