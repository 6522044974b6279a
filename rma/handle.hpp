// SPDX-License-Identifier: BSD-3-Clause
//
// Handle: one or more non-blocking operations that may still be under way.
//
// A handle may collect any number of operations; wait() completes them all. Completion is local:
// sources may be reused, destinations of gets hold their data. A handle may be born complete (over
// shared memory they all are) or born failed; wait() is the one place to look.
//
// What happens to a handle that nobody waits for: its destructor waits, and the error, if any, is
// reported by the job's next fence. detach() makes it implicit instead: wait_rank(), wait_all() and
// the fences complete it.
//
// Threads: one handle, one thread at a time; different handles from any threads.
// Ownership: move-only; must not outlive its Job.
#pragma once

#include <memory>
#include <utility>

#include "rma/status.hpp"

namespace tessera::rma {

class Job;
namespace detail {
class Operation;
}

class [[nodiscard]] Handle {
 public:
  /// Complete, and successful.
  Handle() noexcept = default;
  explicit Handle(std::shared_ptr<detail::Operation> operation) noexcept
      : operation_(std::move(operation)) {}
  /// Born failed: wait() returns `status`. For functions that return a handle and find, before they
  /// start anything, that they cannot.
  static Handle failed(Job& job, Status status);
  /// The same for what was meant for `peer`: waits and fences for that rank tell of it, too.
  static Handle failed(Job& job, WorldRank peer, Status status);
  /// The same where there is no job. No fence reports the error if nobody waits for the handle.
  static Handle failed(Status status);

  Handle(Handle&&) noexcept = default;
  Handle& operator=(Handle&& other) noexcept;
  ~Handle() {
    if (operation_) {
      settle();
    }
  }

  /// Moves the operations of `other` into this handle. Without memory for that, waits for them; so
  /// does detach().
  void collect(Handle&& other);

  /// True when the handle refers to no operation: default-constructed, complete from the start,
  /// waited for, or detached.
  [[nodiscard]] bool is_empty() const noexcept { return operation_ == nullptr; }

  /// True when wait() would not block.
  [[nodiscard]] bool done();
  /// As done(), but makes no progress: only reads the current state.
  [[nodiscard]] bool has_ended() const;

  /// Waits for local completion of all collected operations. Returns the first error among them,
  /// once; the handle is empty afterwards.
  Status wait();

  /// Gives the operations to the job; see above.
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
