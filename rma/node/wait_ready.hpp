// SPDX-License-Identifier: BSD-3-Clause
//
// Waiting for a descriptor until a deadline, however many signals come meanwhile.
#pragma once

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>

namespace tessera::rma::detail {

/// True when the descriptor shows one of `events`, an error or its end; false at the deadline, or
/// when the system can't wait. Looks once where the deadline is over.
[[nodiscard]] inline bool wait_ready(int descriptor, short events,
                                     std::chrono::steady_clock::time_point deadline) noexcept {
  using std::chrono::milliseconds;
  constexpr milliseconds longest = std::chrono::hours(1);  // poll() counts in an int
  pollfd entry{.fd = descriptor, .events = events, .revents = 0};
  while (true) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
    const auto time = std::clamp(left, milliseconds(0), longest);
    const int ready = poll(&entry, 1, static_cast<int>(time.count()));
    if (ready > 0) {
      return true;
    }
    if (ready < 0 ? errno != EINTR : left <= longest) {
      return false;
    }
  }
}

}  // namespace tessera::rma::detail
