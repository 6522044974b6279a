// SPDX-License-Identifier: BSD-3-Clause
//
// GrowingNap: how long a waiter sleeps between two looks at what it waits for, if it can miss the
// wake-up. The naps grow with the wait: a long wait costs little processor time, and a missed
// wake-up lengthens a wait by a quarter at most, and never by more than `most`.
#pragma once

#include <algorithm>
#include <chrono>

namespace tessera::rma::detail {

class GrowingNap {
 public:
  using Clock = std::chrono::steady_clock;

  constexpr GrowingNap(std::chrono::nanoseconds first, std::chrono::nanoseconds most) noexcept
      : first_(first), most_(most) {}

  /// The length of the next nap. The wait begins with the first call.
  [[nodiscard]] std::chrono::nanoseconds next() noexcept {
    constexpr int parts = 4;
    const auto now = Clock::now();
    if (began_ == Clock::time_point()) {
      began_ = now;
    }
    return std::clamp<std::chrono::nanoseconds>((now - began_) / parts, first_, most_);
  }

 private:
  std::chrono::nanoseconds first_;
  std::chrono::nanoseconds most_;
  Clock::time_point began_{};
};

/// The longest nap of those who wait for an answer, for room or for another rank.
inline constexpr std::chrono::nanoseconds longest_nap = std::chrono::milliseconds(10);

}  // namespace tessera::rma::detail
