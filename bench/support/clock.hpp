// SPDX-License-Identifier: BSD-3-Clause
//
// Time for benchmarks: monotonic nanoseconds, and the cost of reading the clock.
//
// A clock is passed as a function, so that tests of the method can use invented time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

namespace tessera::bench {

/// Returns nanoseconds since an arbitrary start; never goes back.
using Clock = std::function<std::int64_t()>;

/// The machine's steady clock.
std::int64_t now_ns();

/// The median difference of two successive readings of `clock`, in nanoseconds: the part of a timed
/// sample that isn't the work.
double timer_cost_ns(const Clock& clock = now_ns);

/// A clock that can be stopped, so that only a part of a candidate's work is timed. Use it only if
/// that part can't be timed alone: a pause leaves about one reading of the clock in the time, which
/// only a large batch makes negligible. Threads: one. Ownership: must outlive the Clock that it
/// gives.
class PausableClock {
 public:
  explicit PausableClock(Clock clock = now_ns) : clock_(std::move(clock)) {}

  /// Time without the pauses. Requires: not paused.
  [[nodiscard]] std::int64_t now() const { return clock_() - paused_ns_; }
  [[nodiscard]] Clock clock() const {
    return [this] { return now(); };
  }

  /// Runs `untimed` without counting its time.
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

// How long threads of this process have been running on a processor.

/// Local. The total of all threads of this process whose name is `name`; empty if no thread has
/// that name, or if the kernel doesn't report it. Names are as in pthread_setname_np().
std::optional<std::chrono::nanoseconds> processor_time_of(std::string_view name);

/// Nanoseconds that the calling thread has been running, including in the kernel; a Clock. Throws
/// std::system_error if the kernel doesn't report it. Cost: a system call.
std::int64_t thread_time_ns();

}  // namespace tessera::bench
