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
  Completion() noexcept = default;
  /// `in_background`: whoever starts the operation means to do something else meanwhile.
  explicit Completion(bool in_background) noexcept : in_background_(in_background) {}
  [[nodiscard]] bool is_in_background() const noexcept { return in_background_; }

  /// Announces one more part. Called before the part is handed to a transport.
  void begin() noexcept { state_.fetch_add(1, std::memory_order_relaxed); }

  /// Says that one part has ended with `status`. Called once for each begin().
  void end(Status status) {
    std::uint64_t seen = state_.load(std::memory_order_relaxed);
    while (status.ok() && (seen & attended) == 0) {
      // The last access: a waiter may destroy this object as soon as it sees zero.
      if (state_.compare_exchange_weak(seen, seen - 1, std::memory_order_release,
                                       std::memory_order_relaxed)) {
        return;
      }
    }
    end_attended(std::move(status));
  }

  /// True when nothing is under way. Who then destroys this object calls take_error() before.
  [[nodiscard]] bool done() const noexcept {
    return (state_.load(std::memory_order_acquire) & ~attended) == 0;
  }

  /// Sleeps until nothing is under way, at most for `period`. Returns done().
  bool wait_for(std::chrono::nanoseconds period) {
    std::unique_lock guard(mutex_);
    state_.fetch_or(attended, std::memory_order_relaxed);
    return changed_.wait_for(guard, period, [this] { return done(); });
  }

  /// The first error of the parts that ended; once given out it is forgotten. Requires: done().
  Status take_error() {
    if ((state_.load(std::memory_order_acquire) & attended) == 0) {
      return {};
    }
    const std::lock_guard guard(mutex_);
    return std::exchange(first_error_, Status());
  }

 private:
  // Under the lock throughout; whoever sees the bit takes it before this object is destroyed.
  void end_attended(Status status) {
    const std::lock_guard guard(mutex_);
    if (!status.ok() && first_error_.ok()) {
      first_error_ = std::move(status);
    }
    state_.fetch_or(attended, std::memory_order_relaxed);
    if ((state_.fetch_sub(1, std::memory_order_release) & ~attended) == 1) {
      changed_.notify_all();
    }
  }

  // Somebody sleeps or slept, or there is an error; in the other bits, how much is under way.
  static constexpr std::uint64_t attended = std::uint64_t{1} << 63U;
  std::atomic<std::uint64_t> state_{0};
  const bool in_background_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  Status first_error_;
};

}  // namespace tessera::rma
