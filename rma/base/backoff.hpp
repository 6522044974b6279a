// SPDX-License-Identifier: BSD-3-Clause
//
// Backoff: the period of a waiter's timed waits, for waits whose wake-up may be missed. The
// period grows with the length of the wait: a long wait uses little processor time, and a missed
// wake-up lengthens a wait by at most a quarter, and by at most `longest`.
#pragma once

#include <algorithm>
#include <chrono>

namespace tessera::rma::detail {

class Backoff {
 public:
  using Clock = std::chrono::steady_clock;

  constexpr Backoff(std::chrono::nanoseconds first, std::chrono::nanoseconds longest) noexcept
      : first_(first), longest_(longest) {}

  /// The length of the next timed wait. The wait begins with the first call.
  [[nodiscard]] std::chrono::nanoseconds next() noexcept {
    constexpr int parts = 4;
    const auto now = Clock::now();
    if (began_ == Clock::time_point()) {
      began_ = now;
    }
    return std::clamp<std::chrono::nanoseconds>((now - began_) / parts, first_, longest_);
  }

 private:
  std::chrono::nanoseconds first_;
  std::chrono::nanoseconds longest_;
  Clock::time_point began_{};
};

/// The longest timed wait of a thread that waits for a reply, for room or for another rank.
inline constexpr std::chrono::nanoseconds max_timed_wait = std::chrono::milliseconds(10);

}  // namespace tessera::rma::detail
