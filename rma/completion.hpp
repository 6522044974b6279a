// SPDX-License-Identifier: BSD-3-Clause
//
// Completion: how a transport tells that operations have ended, and how.
//
// A count of parts that are still under way and the first error among those that ended. Lives
// until the last part has ended; whoever hands one to a transport sees to that.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>

#include "rma/status.hpp"

namespace tessera::rma {

class Completion {
 public:
  /// Announces one more part. Called before the part is handed to a transport.
  void begin() noexcept { under_way_.fetch_add(1, std::memory_order_relaxed); }

  /// Says that one part has ended with `status`. Called once for each begin().
  void end(Status status) {
    // Under the lock throughout: a waiter may destroy this object as soon as it sees zero, and it
    // takes the lock before it returns.
    const std::lock_guard guard(mutex_);
    if (!status.ok() && first_error_.ok()) {
      first_error_ = std::move(status);
    }
    if (under_way_.fetch_sub(1, std::memory_order_release) == 1) {
      changed_.notify_all();
    }
  }

  /// True when nothing is under way.
  [[nodiscard]] bool done() const noexcept {
    return under_way_.load(std::memory_order_acquire) == 0;
  }

  /// Sleeps until nothing is under way, at most for `period`. Returns done().
  bool wait_for(std::chrono::nanoseconds period) {
    std::unique_lock guard(mutex_);
    return changed_.wait_for(guard, period, [this] { return done(); });
  }

  /// The first error of the parts that ended; once given out it is forgotten. Requires: done().
  Status take_error() {
    const std::lock_guard guard(mutex_);
    return std::exchange(first_error_, Status());
  }

 private:
  std::atomic<std::int64_t> under_way_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  Status first_error_;
};

}  // namespace tessera::rma
