// SPDX-License-Identifier: BSD-3-Clause
//
// Operation: the implementation of a Handle. Outstanding: the list of operations under way.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "rma/base/rank.hpp"
#include "rma/base/status.hpp"
#include "rma/transport/completion.hpp"

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
  /// The rank, if exactly one was named: it can be looked up.
  [[nodiscard]] std::optional<WorldRank> only() const noexcept { return only_; }

 private:
  std::optional<WorldRank> only_;
  std::function<bool(WorldRank)> are_;  // null: all
};

/// One non-blocking operation, or several that one handle collected.
class Operation {
 public:
  /// Without a job (null) it is complete from the beginning.
  Operation(JobState* job, WorldRank peer) : job_(job), peer_(peer) {}

  /// Stands for all operations for which there was no memory. Nothing is started or kept, and each
  /// wait() returns no_memory.
  struct WithoutMemory {};
  Operation(JobState* job, WithoutMemory /*unused*/) : job_(job), is_without_memory_(true) {}
  [[nodiscard]] bool is_without_memory() const noexcept { return is_without_memory_; }

  [[nodiscard]] Completion& completion() noexcept { return completion_; }
  [[nodiscard]] WorldRank peer() const noexcept { return peer_; }
  [[nodiscard]] JobState* job() const noexcept { return job_; }

  /// Names it in the log line of a long wait: "a get from". `what` must outlive it.
  void set_what(std::string_view what) noexcept { what_ = what; }

  /// Polls once; returns whether it is done.
  bool done();
  /// True if this and all collected operations have ended.
  [[nodiscard]] bool has_ended() const;
  /// Waits for this and all collected operations. Returns the first error and clears it.
  Status wait();
  /// Waits for this operation without those that it collected. Keeps the error. May be called by
  /// threads that do not own the handle.
  void wait_for_own();
  /// The same, including what it has collected.
  void wait_for_all();

  /// True if this or a collected operation goes to one of these ranks.
  [[nodiscard]] bool concerns(const TargetRanks& ranks) const;

  /// Takes over `other` and what that has collected, so that chains of handles become lists. The
  /// total cost is a step or two for each operation, in whatever order handles collect each other.
  /// Without memory for the list it waits for what it would take over. Requires:
  /// !is_without_memory().
  void collect(std::shared_ptr<Operation> other) noexcept;

 private:
  void record_error(Status error) noexcept;

  JobState* job_;
  WorldRank peer_;
  std::string_view what_ = "an operation on";
  bool is_without_memory_ = false;
  Completion completion_{true};
  std::vector<std::shared_ptr<Operation>> collected_;
};

/// Makes an operation that starts now; its memory is recycled.
std::shared_ptr<Operation> make_operation(JobState* job, WorldRank peer);
inline std::shared_ptr<Operation> make_operation(JobState& job, WorldRank peer) {
  return make_operation(&job, peer);
}

/// The operations of a job that may be under way, oldest first, and the operations without a
/// handle.
class Outstanding {
 public:
  explicit Outstanding(std::size_t limit) : limit_(limit) {}

  /// Records that `operation` starts. While there are already `limit`, waits for the oldest ones.
  void add(const std::shared_ptr<Operation>& operation);

  /// Takes over an operation whose handle was detached or dropped. Waits for it if there is no
  /// memory to record it.
  void adopt(const std::shared_ptr<Operation>& operation) noexcept;
  /// Waits for adopted operations to these ranks; returns the first error. A collection with parts
  /// to several ranks is completed as a whole with any of them.
  Status complete_adopted(const TargetRanks& ranks);

  /// Keeps an error for the next fence to report.
  void defer_error(Status error);
  Status take_deferred_error();
  /// False if a fence has nothing here to complete or to report. Cost: one load.
  [[nodiscard]] bool concerns_fences() const noexcept {
    return concerns_fences_.load(std::memory_order_acquire);
  }

 private:
  std::shared_ptr<Operation> add_unless_full(const std::shared_ptr<Operation>& operation);
  bool keep_adopted(const std::shared_ptr<Operation>& operation) noexcept;
  void remove_ended();
  std::vector<std::shared_ptr<Operation>> adopted_to(const TargetRanks& ranks);
  /// Removes those that have ended; returns the first error.
  Status remove_adopted(const TargetRanks& ranks);
  void update_concerns_fences() noexcept;

  std::size_t limit_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Operation>> under_way_;  // and some that have ended
  std::size_t next_cleanup_size_ = 0;                  // size at which ended ones are removed next
  std::vector<std::shared_ptr<Operation>> adopted_;
  Status deferred_;
  std::atomic<bool> concerns_fences_{false};  // whether adopted_ or deferred_ has something
};

}  // namespace tessera::rma::detail
