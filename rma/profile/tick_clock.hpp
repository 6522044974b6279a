// SPDX-License-Identifier: BSD-3-Clause
//
// TickClock: the clock that times waits. Reading steady_clock takes some sixty instructions, twice
// per wait; reading the processor's counter takes one. The length of a tick is computed when the
// profile is written, from both clocks' readings at the beginning and at that time.
#pragma once

#include <cstdint>

#include "rma/base/processor_counter.hpp"

namespace tessera::rma::detail {

/// Converts ticks to nanoseconds of steady_clock.
class TickScale {
 public:
  struct Reading {
    std::int64_t ticks = 0;
    std::int64_t ns = 0;
  };
  TickScale(Reading first, Reading last) noexcept : first_(first) {
    if (last.ticks > first.ticks) {
      ns_per_tick_ =
          static_cast<double>(last.ns - first.ns) / static_cast<double>(last.ticks - first.ticks);
    }
  }
  [[nodiscard]] std::int64_t span_ns(std::int64_t ticks) const noexcept {
    return static_cast<std::int64_t>(static_cast<double>(ticks) * ns_per_tick_);
  }
  [[nodiscard]] std::int64_t time_ns(std::int64_t ticks) const noexcept {
    return first_.ns + span_ns(ticks - first_.ticks);
  }

 private:
  Reading first_;
  double ns_per_tick_ = 1;
};

/// Threads: any.
class TickClock {
 public:
  /// Uses the processor's counter if the kernel takes its time from it, too: then it counts evenly,
  /// and equally on all processors. Otherwise uses steady_clock, and ticks are nanoseconds.
  TickClock() noexcept;

  [[nodiscard]] std::int64_t now() const noexcept {
    return has_counter_ ? processor_counter() : steady_clock_ns();
  }
  /// Reads both clocks. The longer after the construction, the more accurate.
  [[nodiscard]] TickScale scale() const noexcept { return {first_, read()}; }

 private:
  [[nodiscard]] TickScale::Reading read() const noexcept;

  bool has_counter_;
  TickScale::Reading first_;
};

}  // namespace tessera::rma::detail
