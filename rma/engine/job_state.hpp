// SPDX-License-Identifier: BSD-3-Clause
//
// JobState: one rank's Job. It owns the parts of the engine, each of which has its own header, and
// begins and ends them in order. Start-up (startup.hpp) makes the parts one after the other.
//
// Threads: all functions except start-up and stop() may be called from any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "rma/engine/fork_guard.hpp"
#include "rma/engine/job_identity.hpp"
#include "rma/engine/local_memory.hpp"
#include "rma/engine/operation.hpp"
#include "rma/engine/peer_routes.hpp"
#include "rma/engine/profile_owner.hpp"
#include "rma/engine/slices.hpp"
#include "rma/engine/team/team_registry.hpp"
#include "rma/engine/team_state.hpp"
#include "rma/engine/transport_list.hpp"
#include "rma/node/node.hpp"
#include "rma/order_observer.hpp"
#include "rma/profile/phase_log.hpp"
#include "rma/profile/recorder.hpp"

namespace tessera::rma::detail {

/// Memory that is freed when memory runs out, so that this rank can still report that to the
/// others.
class MemoryReserve {
 public:
  MemoryReserve(std::size_t bytes, JobState* job)
      : bytes_(bytes),
        memory_(std::make_unique<std::byte[]>(bytes)),
        operation_(std::make_shared<Operation>(job, Operation::WithoutMemory())) {}
  void give() noexcept {
    const std::lock_guard guard(mutex_);
    memory_.reset();
  }
  /// Takes the memory back if it can be allocated.
  void refill() noexcept {
    const std::lock_guard guard(mutex_);
    if (memory_ == nullptr) {
      memory_.reset(new (std::nothrow) std::byte[bytes_]);
    }
  }
  /// The operation of every handle for which there was no memory.
  [[nodiscard]] const std::shared_ptr<Operation>& operation() const noexcept { return operation_; }

 private:
  std::mutex mutex_;
  std::size_t bytes_;
  std::unique_ptr<std::byte[]> memory_;
  std::shared_ptr<Operation> operation_;
};

/// The observer that is notified of operations that order those of this rank; none in most jobs.
class OrderObservers {
 public:
  [[nodiscard]] OrderObserver* current() const noexcept {
    return current_.load(std::memory_order_acquire);
  }
  /// Called by operations, besides collectives, that order this rank's operations and other ranks'.
  /// `number` gives the object's number.
  template <class Number>
  void report_order(OrderCall::Kind kind, Number&& number) const noexcept {
    if (OrderObserver* const observer = current()) [[unlikely]] {
      observer->on_order({kind, number()});
    }
  }
  /// The same for an atomic operation. Other ranks may have set the word by one, a put or
  /// raise_flag().
  void report_atomic(const RemoteAddress& at) const noexcept {
    report_order(OrderCall::Kind::acquire, [&] { return number_of_raised(at); });
    report_order(OrderCall::Kind::both, [&] { return number_of_word(at); });
  }
  /// The same for a call whose objects are not known.
  void report_order() const noexcept {
    report_order(OrderCall::Kind::both, [] { return OrderCall::any_object; });
  }
  /// Returns the job's observer: this one, or the one that was set before.
  OrderObserver& set(std::unique_ptr<OrderObserver> observer) {
    const std::lock_guard guard(mutex_);
    if (!owner_) {
      owner_ = std::move(observer);
      current_.store(owner_.get(), std::memory_order_release);
    }
    return *owner_;
  }

 private:
  std::atomic<OrderObserver*> current_{nullptr};
  std::unique_ptr<OrderObserver> owner_;
  std::mutex mutex_;
};

class JobState : public JobIdentity, public std::enable_shared_from_this<JobState> {
 public:
  JobState(Settings settings, std::shared_ptr<Bootstrap> bootstrap, NodeMap nodes,
           JobLayout layout = {});

  [[nodiscard]] Node& node() const noexcept { return *node_; }
  [[nodiscard]] TransportList& transports() noexcept { return transports_; }
  /// To other nodes; null if there is only one.
  [[nodiscard]] NodeControlChannel* link() const noexcept { return transports_.link(); }
  [[nodiscard]] PeerRoutes& routes() noexcept { return routes_; }
  [[nodiscard]] Slices& slices() noexcept { return slices_; }
  [[nodiscard]] const Slices& slices() const noexcept { return slices_; }
  [[nodiscard]] Outstanding& outstanding() noexcept { return outstanding_; }
  [[nodiscard]] OrderObservers& observers() noexcept { return observers_; }
  [[nodiscard]] LocalMemory& local_memory() noexcept { return local_memory_; }
  [[nodiscard]] MemoryReserve& reserve() noexcept { return reserve_; }
  [[nodiscard]] Team& world() noexcept { return world_; }
  [[nodiscard]] TeamRegistry& teams() noexcept { return teams_; }
  /// Null in jobs that are not profiled.
  [[nodiscard]] Recorder* recorder() const noexcept { return recorder_; }
  /// Null in jobs without a profile and without the race check.
  [[nodiscard]] const std::shared_ptr<PhaseLog>& phases() const noexcept { return phases_; }

  // Start-up, see startup.hpp.
  /// Registers this rank on its node, and makes the tables for the node's memory.
  Status enter_node(std::shared_ptr<Node> node);
  /// Makes the transports that the settings name.
  Status make_transports(const std::vector<TransportFactory>& factories);
  /// Collective. Makes the world team.
  Status make_world();
  /// From now on phases are recorded, if the settings ask for a profile or for the race check.
  void log_phases();
  /// From now on operations and waits are recorded.
  void set_profile(std::unique_ptr<ProfileOwner> profile) noexcept;

  [[nodiscard]] bool is_stopped() const noexcept {
    return stopped_.load(std::memory_order_relaxed);
  }
  /// Errors: closed if the job was stopped.
  [[nodiscard]] Status check_running() const;
  /// The error of operations on a stopped job: closed. Says so if this process is a child of a
  /// rank.
  [[nodiscard]] Status stopped_error() const;
  /// Errors: invalid_argument if the job has no such rank.
  [[nodiscard]] Status check_rank(WorldRank peer) const;
  /// See Job::name_rank. Takes a call's status, or its value or error.
  template <class Outcome>
  [[nodiscard]] Outcome name_rank(Outcome outcome) const noexcept {
    if (outcome.ok() || size() == 1) [[likely]] {
      return outcome;
    }
    if constexpr (std::is_same_v<Outcome, Status>) {
      return std::move(outcome).failing_on(rank());
    } else {
      return std::move(outcome).status().failing_on(rank());
    }
  }

  /// Completes at the target what this rank did at these ranks, in `region` or in all regions.
  Status fence(const TargetRanks& ranks, RegionId region = any_region);
  /// See Job::stop.
  Status stop();

  /// In a child made by fork(). Closes the job as stop() does, but sends nothing to other ranks,
  /// waits for no thread, and never destroys the job. Operations that were under way are closed.
  void close_in_forked_child() noexcept;
  /// True in such a child: only the parent may free what lies in shared memory.
  [[nodiscard]] bool is_in_forked_child() const noexcept { return leaked_in_child_ != nullptr; }

 private:
  // that a rank needs for each member of a team, at most
  static constexpr std::size_t bytes_of_member = 128;

  [[nodiscard]] TransportContext transport_context();
  Status complete_and_fence(const TargetRanks& ranks, RegionId region);

  // In the order in which they may use each other when they end, the last one first.
  std::shared_ptr<JobState> leaked_in_child_;  ///< itself, for ever, in a child made by fork()
  std::shared_ptr<Node> node_;
  Slices slices_;
  TransportList transports_;
  std::unique_ptr<ProfileOwner> profile_;  ///< null in jobs that are not profiled
  Recorder* recorder_ = nullptr;           ///< the profile's
  std::shared_ptr<PhaseLog> phases_;       ///< outlives the job in phases that are still open
  OrderObservers observers_;
  Outstanding outstanding_;
  MemoryReserve reserve_;  ///< enough for a team of all ranks
  TeamRegistry teams_;
  Team world_;
  std::atomic<bool> stopped_{false};
  std::optional<ForkGuard> fork_guard_;
  LocalMemory local_memory_;
  PeerRoutes routes_;
};

/// Shared by a job's handles: destroying the last one stops the job.
class Membership {
 public:
  explicit Membership(std::shared_ptr<JobState> state) : state_(std::move(state)) {}
  ~Membership();
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

 private:
  std::shared_ptr<JobState> state_;
};

}  // namespace tessera::rma::detail
