// SPDX-License-Identifier: BSD-3-Clause
//
// Time for benchmarks: monotonic nanoseconds, and what reading the clock costs.
//
// A clock is passed as a function, so that the tests of the method run on invented time.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

namespace tessera::bench {

/// Returns nanoseconds since an arbitrary start; never goes back.
using Clock = std::function<std::int64_t()>;

/// The machine's steady clock.
std::int64_t now_ns();

/// The median difference of two successive readings of `clock`, in nanoseconds: what one timed
/// sample contains that isn't the work.
double timer_cost_ns(const Clock& clock = now_ns);

/// A clock that can be stopped, so that one part of what a candidate has to do is timed and the
/// rest is not. It has no other use: what can be timed alone needs none. A pause leaves about one
/// reading of the clock in the time, which only a batch makes small.
/// Threads: one. Ownership: outlives the Clock that it gives.
class PausableClock {
 public:
  explicit PausableClock(Clock clock = now_ns) : clock_(std::move(clock)) {}

  /// Time without the pauses. Requires: not paused.
  [[nodiscard]] std::int64_t now() const { return clock_() - paused_ns_; }
  [[nodiscard]] Clock clock() const {
    return [this] { return now(); };
  }

  /// Runs `untimed`, and takes no time for it.
  template <class Untimed>
  void pause(Untimed untimed) {
    const std::int64_t start = clock_();
    untimed();
    paused_ns_ += clock_() - start;
  }

 private:
  Clock clock_;
  std::int64_t paused_ns_ = 0;
};

}  // namespace tessera::bench
