// SPDX-License-Identifier: BSD-3-Clause
#include "rma/profile/tick_clock.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <string_view>

namespace tessera::rma::detail {
namespace {

// Clock sources of Linux that are the processor's counter as it is, or scaled by a hypervisor.
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

}  // namespace tessera::rma::detail
