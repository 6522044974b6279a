// SPDX-License-Identifier: BSD-3-Clause
//
// Operation: what stands behind a Handle; and Outstanding, the list of those under way.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "rma/completion.hpp"
#include "rma/rank.hpp"
#include "rma/status.hpp"

namespace tessera::rma::detail {

class JobState;

/// Which target ranks a wait or fence concerns.
class TargetRanks {
 public:
  static TargetRanks all() noexcept { return {}; }
  static TargetRanks one(WorldRank rank) noexcept {
    TargetRanks ranks;
    ranks.only_ = rank;
    return ranks;
  }
  static TargetRanks such(std::function<bool(WorldRank)> are) {
    TargetRanks ranks;
    ranks.are_ = std::move(are);
    return ranks;
  }

  [[nodiscard]] bool has(WorldRank rank) const {
    return only_ ? rank == *only_ : are_ == nullptr || are_(rank);
  }
  /// The one rank, where only one was named: it can be looked up.
  [[nodiscard]] std::optional<WorldRank> only() const noexcept { return only_; }

 private:
  std::optional<WorldRank> only_;
  std::function<bool(WorldRank)> are_;  // null: all
};

/// One non-blocking operation, or several that one handle collected.
class Operation {
 public:
  /// Without a job, null, it has ended from the beginning.
  Operation(JobState* job, WorldRank peer) : job_(job), peer_(peer) {}

  /// What stands for all operations for which there was no memory: nothing is started and nothing
  /// kept, and each wait() returns no_memory.
  struct WithoutMemory {};
  Operation(JobState* job, WithoutMemory /*unused*/) : job_(job), is_without_memory_(true) {}
  [[nodiscard]] bool is_without_memory() const noexcept { return is_without_memory_; }

  [[nodiscard]] Completion& completion() noexcept { return completion_; }
  [[nodiscard]] WorldRank peer() const noexcept { return peer_; }
  [[nodiscard]] JobState* job() const noexcept { return job_; }

  /// What it is, in the line of a long wait: "a get from". `what` lives longer.
  void set_what(std::string_view what) noexcept { what_ = what; }

  /// Looks, after moving what can be moved.
  bool done();
  /// True when this and all collected operations have ended.
  [[nodiscard]] bool has_ended() const;
  /// Waits for this and all collected operations; returns and forgets the first error.
  Status wait();
  /// Waits for this one without those that it collected, and leaves the error where it is. May be
  /// called by threads that do not own the handle.
  void wait_for_own();
  /// The same, with what it has collected.
  void wait_for_all();

  /// True when this or a collected operation goes to such a rank.
  [[nodiscard]] bool concerns(const TargetRanks& ranks) const;

  /// Takes what the other has collected, too, so that chains of handles become lists: in all a
  /// step or two for each operation, in whatever order handles collect each other. Where there is
  /// no memory for that, waits for what it was to take. Requires: !is_without_memory().
  void collect(std::shared_ptr<Operation> other) noexcept;

 private:
  void note_error(Status error) noexcept;

  JobState* job_;
  WorldRank peer_;
  std::string_view what_ = "an operation on";
  bool is_without_memory_ = false;
  Completion completion_{true};
  std::vector<std::shared_ptr<Operation>> collected_;
};

/// An operation that starts; its memory is used again and again.
std::shared_ptr<Operation> make_operation(JobState* job, WorldRank peer);
inline std::shared_ptr<Operation> make_operation(JobState& job, WorldRank peer) {
  return make_operation(&job, peer);
}

/// The operations of a job that may be under way, oldest first, and those without a handle.
class Outstanding {
 public:
  explicit Outstanding(std::size_t limit) : limit_(limit) {}

  /// Notes that `operation` starts; waits for the oldest ones while there are `limit` already.
  void add(const std::shared_ptr<Operation>& operation);

  /// Takes an operation whose handle was detached or dropped; waits for it where there is no memory
  /// to remember it.
  void adopt(const std::shared_ptr<Operation>& operation) noexcept;
  /// Waits for adopted operations to such ranks; returns the first error. A collection with parts
  /// to several ranks is completed as a whole with any of them.
  Status complete_adopted(const TargetRanks& ranks);

  /// Keeps an error for the next fence to report.
  void defer_error(Status error);
  Status take_deferred_error();
  /// False when a fence has nothing of this to complete or to report: one load.
  [[nodiscard]] bool concerns_fences() const noexcept {
    return concerns_fences_.load(std::memory_order_acquire);
  }

 private:
  std::shared_ptr<Operation> add_unless_full(const std::shared_ptr<Operation>& operation);
  bool keep_adopted(const std::shared_ptr<Operation>& operation) noexcept;
  void forget_ended();
  std::vector<std::shared_ptr<Operation>> adopted_to(const TargetRanks& ranks);
  /// Those that have ended; returns the first error.
  Status forget_adopted(const TargetRanks& ranks);
  void note_what_concerns_fences() noexcept;

  std::size_t limit_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Operation>> under_way_;  // and some that have ended
  std::size_t next_look_ = 0;                          // for those, when there are so many
  std::vector<std::shared_ptr<Operation>> adopted_;
  Status deferred_;
  std::atomic<bool> concerns_fences_{false};  // whether there is any of these two
};

}  // namespace tessera::rma::detail
