// SPDX-License-Identifier: BSD-3-Clause
//
// ProgressDelegate: the progress of other ranks' operations that a thread of this process makes
// while it waits: the work of an agent that has no processor of its own, or that of MPI
// (docs/decisions/0010).
#pragma once

#include <chrono>

namespace tessera::rma::detail {

/// Threads: all functions may be called from any thread.
class ProgressDelegate {
 public:
  virtual ~ProgressDelegate() = default;
  /// From now until end() this thread calls advance() repeatedly.
  virtual void begin() noexcept = 0;
  virtual void advance() noexcept = 0;
  virtual void end() noexcept = 0;
  /// After end(): this thread is about to sleep, so it is unknown when it advances again.
  virtual void yield_progress() noexcept = 0;
  /// How long a waiting thread may sleep before it must advance again; unlimited if others do the
  /// work.
  [[nodiscard]] virtual std::chrono::nanoseconds max_sleep() const noexcept {
    return std::chrono::nanoseconds::max();
  }
  /// How long a thread polls at least before it sleeps. More than 0 only if each rank of the node
  /// has a processor.
  [[nodiscard]] virtual std::chrono::nanoseconds min_polling() const noexcept {
    return std::chrono::nanoseconds(0);
  }
};

/// While one exists, this thread makes no progress for others: it holds a lock that the work might
/// take.
class NoProgressScope {
 public:
  NoProgressScope() noexcept { ++depth; }
  ~NoProgressScope() { --depth; }
  NoProgressScope(const NoProgressScope&) = delete;
  NoProgressScope& operator=(const NoProgressScope&) = delete;
  [[nodiscard]] static bool is_active() noexcept { return depth > 0; }

 private:
  static inline constinit thread_local int depth = 0;
};

/// Calls begin() and end() for a scope; has no effect without a delegate.
class ProgressScope {
 public:
  explicit ProgressScope(ProgressDelegate* delegate) noexcept : delegate_(delegate) {
    if (delegate_ != nullptr) {
      delegate_->begin();
    }
  }
  ~ProgressScope() {
    if (delegate_ != nullptr) {
      delegate_->end();
    }
  }
  ProgressScope(const ProgressScope&) = delete;
  ProgressScope& operator=(const ProgressScope&) = delete;
  void advance() const noexcept {
    if (delegate_ != nullptr) {
      delegate_->advance();
    }
  }

 private:
  ProgressDelegate* delegate_;
};

}  // namespace tessera::rma::detail
