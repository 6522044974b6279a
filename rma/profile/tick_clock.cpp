// SPDX-License-Identifier: BSD-3-Clause
#include "rma/profile/tick_clock.hpp"

#include <limits>

namespace tessera::rma::detail {

TickClock::TickClock() noexcept : has_counter_(kernel_trusts_counter()), first_(read()) {}

// Takes several readings and keeps the one with the least time between its two counter values,
// since the thread may lose its processor in between.
TickScale::Reading TickClock::read() const noexcept {
  constexpr int tries = 5;
  std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
  TickScale::Reading best;
  for (int i = 0; i < tries; ++i) {
    const std::int64_t before = now();
    const std::int64_t ns = steady_clock_ns();
    const std::int64_t between = now() - before;
    if (between < shortest) {
      shortest = between;
      best = {.ticks = before + between / 2, .ns = ns};
    }
  }
  return best;
}

}  // namespace tessera::rma::detail
