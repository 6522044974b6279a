// SPDX-License-Identifier: BSD-3-Clause
#include "rma/profile/tick_clock.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>

namespace tessera::rma::detail {
namespace {

// Clock sources of Linux that are the processor's counter, either directly or scaled by a
// hypervisor.
bool kernel_trusts_counter() {
  constexpr std::array<std::string_view, 4> counters{
      "tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"};
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string source;
  file >> source;
  return std::ranges::find(counters, source) != counters.end();
}

}  // namespace

TickClock::TickClock() noexcept : has_counter_(kernel_trusts_counter()), first_(read()) {}

// Takes several readings and keeps the one with the least time between its two counter values,
// since the thread may lose its processor in between.
TickScale::Reading TickClock::read() const noexcept {
  constexpr int tries = 5;
  std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
  TickScale::Reading best;
  for (int i = 0; i < tries; ++i) {
    const std::int64_t before = now();
    const std::int64_t ns = profile_clock_ns();
    const std::int64_t between = now() - before;
    if (between < shortest) {
      shortest = between;
      best = {.ticks = before + between / 2, .ns = ns};
    }
  }
  return best;
}

}  // namespace tessera::rma::detail
