// SPDX-License-Identifier: BSD-3-Clause
//
// Completion: how a transport reports that operations have ended, and their first error.
//
// It holds the number of parts in flight and the first error of the parts that ended. It must live
// until the last part has ended; the caller that passes it to a transport ensures that.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>

#include "rma/base/status.hpp"

namespace tessera::rma {

class Completion {
 public:
  Completion() noexcept = default;
  /// `in_background`: the caller that starts the operation continues with other work meanwhile.
  explicit Completion(bool in_background) noexcept : in_background_(in_background) {}
  [[nodiscard]] bool is_in_background() const noexcept { return in_background_; }

  /// Adds one part. Called before the part is handed to a transport.
  void begin() noexcept { state_.fetch_add(1, std::memory_order_relaxed); }

  /// Reports that one part has ended with `status`. Called once for each begin().
  void end(Status status) {
    std::uint64_t seen = state_.load(std::memory_order_relaxed);
    while (status.ok() && (seen & needs_lock) == 0) {
      // The last access: a waiter may destroy this object as soon as it sees zero.
      if (state_.compare_exchange_weak(seen, seen - 1, std::memory_order_release,
                                       std::memory_order_relaxed)) {
        return;
      }
    }
    end_locked(std::move(status));
  }

  /// True if nothing is in flight. Before this object is destroyed after that, call take_error().
  [[nodiscard]] bool done() const noexcept {
    return (state_.load(std::memory_order_acquire) & ~needs_lock) == 0;
  }

  /// Sleeps until nothing is in flight, at most for `period`. Returns done().
  bool wait_for(std::chrono::nanoseconds period) {
    std::unique_lock guard(mutex_);
    state_.fetch_or(needs_lock, std::memory_order_relaxed);
    return changed_.wait_for(guard, period, [this] { return done(); });
  }

  /// The first error of the parts that ended, and clears it. Requires: done().
  Status take_error() {
    if ((state_.load(std::memory_order_acquire) & needs_lock) == 0) {
      return {};
    }
    const std::lock_guard guard(mutex_);
    return std::exchange(first_error_, Status());
  }

 private:
  // Holds the lock throughout: a thread that sees the bit takes the lock before it destroys this
  // object.
  void end_locked(Status status) {
    const std::lock_guard guard(mutex_);
    if (!status.ok() && first_error_.ok()) {
      first_error_ = std::move(status);
    }
    state_.fetch_or(needs_lock, std::memory_order_relaxed);
    if ((state_.fetch_sub(1, std::memory_order_release) & ~needs_lock) == 1) {
      changed_.notify_all();
    }
  }

  // Bit 63: a thread sleeps or slept, or there is an error. Other bits: the number of parts in
  // flight.
  static constexpr std::uint64_t needs_lock = std::uint64_t{1} << 63U;
  std::atomic<std::uint64_t> state_{0};
  const bool in_background_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  Status first_error_;
};

/// One part of a Completion that is being started, in code through which an exception may pass: it
/// ends with no_memory unless it was handed over.
class BegunPart {
 public:
  explicit BegunPart(Completion& done) noexcept : done_(&done) { done.begin(); }
  BegunPart(const BegunPart&) = delete;
  BegunPart& operator=(const BegunPart&) = delete;
  ~BegunPart() {
    if (done_ != nullptr) {
      done_->end(Status::no_memory("this process has no memory left"));
    }
  }
  /// `started`: whether someone will end it. After an error it ends here, with that.
  void hand_over(Status started) {
    Completion* const done = std::exchange(done_, nullptr);
    if (!started.ok()) {
      done->end(std::move(started));
    }
  }

 private:
  Completion* done_;
};

}  // namespace tessera::rma
