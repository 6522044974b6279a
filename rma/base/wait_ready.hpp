// SPDX-License-Identifier: BSD-3-Clause
//
// Waits for a descriptor until a deadline, regardless of signals.
#pragma once

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>

namespace tessera::rma::detail {

/// True if the descriptor shows one of `events`, an error or its end; false at the deadline, or if
/// the system can't wait. Polls once if the deadline has passed.
[[nodiscard]] inline bool wait_ready(int descriptor, short events,
                                     std::chrono::steady_clock::time_point deadline) noexcept {
  using std::chrono::milliseconds;
  constexpr milliseconds max_period = std::chrono::hours(1);  // poll() takes an int
  pollfd entry{.fd = descriptor, .events = events, .revents = 0};
  while (true) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
    const auto time = std::clamp(left, milliseconds(0), max_period);
    const int ready = poll(&entry, 1, static_cast<int>(time.count()));
    if (ready > 0) {
      return true;
    }
    if (ready < 0 ? errno != EINTR : left <= max_period) {
      return false;
    }
  }
}

}  // namespace tessera::rma::detail
