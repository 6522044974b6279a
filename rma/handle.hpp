// SPDX-License-Identifier: BSD-3-Clause
//
// Handle: one or more non-blocking operations that may still be in flight.
//
// A handle may collect any number of operations; wait() completes them all. Completion is local:
// sources may be reused, and the destinations of gets hold their data. A handle may be complete
// from the start (over shared memory all are) or failed from the start; wait() reports both.
//
// If a handle is destroyed before wait(), its destructor waits, and the job's next fence reports
// the error, if any. detach() makes the operations implicit instead: wait_rank(), wait_all() and
// the fences complete them.
//
// Threads: one thread at a time for each handle; different handles from any threads.
// Ownership: move-only; must not outlive its Job.
#pragma once

#include <memory>
#include <utility>

#include "rma/base/status.hpp"

namespace tessera::rma {

class Job;
namespace detail {
class Operation;
}

class [[nodiscard]] Handle {
 public:
  /// A complete, successful handle.
  Handle() noexcept = default;
  explicit Handle(std::shared_ptr<detail::Operation> operation) noexcept
      : operation_(std::move(operation)) {}
  /// A failed handle: wait() returns `status`. For functions that return a handle and fail before
  /// they start any operation.
  static Handle failed(Job& job, Status status);
  /// The same for an operation to `peer`: waits and fences for that rank also report it.
  static Handle failed(Job& job, WorldRank peer, Status status);
  /// The same without a job. No fence reports the error if the handle is destroyed before wait().
  static Handle failed(Status status);

  Handle(Handle&&) noexcept = default;
  Handle& operator=(Handle&& other) noexcept;
  ~Handle() {
    if (operation_) {
      settle();
    }
  }

  /// Moves the operations of `other` into this handle. If there is no memory for that, waits for
  /// them instead; so does detach().
  void collect(Handle&& other);

  /// True if the handle refers to no operation: it was default-constructed, complete from the
  /// start, waited for, or detached.
  [[nodiscard]] bool is_empty() const noexcept { return operation_ == nullptr; }

  /// True if wait() would not block. Makes progress.
  [[nodiscard]] bool done();
  /// As done(), but without progress: only reads the current state.
  [[nodiscard]] bool has_ended() const;

  /// Waits for local completion of all collected operations and empties the handle. Returns the
  /// first error among them; it is reported only once.
  Status wait();

  /// Hands the operations over to the job; wait_rank(), wait_all() and fences complete them.
  void detach() {
    if (operation_) {
      adopt();
    }
  }

 private:
  void adopt();
  void settle() noexcept;
  std::shared_ptr<detail::Operation> operation_;
};

}  // namespace tessera::rma
