// SPDX-License-Identifier: BSD-3-Clause
#include "rma/base/processor_counter.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <string_view>

namespace tessera::rma::detail {

bool kernel_trusts_counter() {
  // Clock sources of Linux that are the counter, either directly or scaled by a hypervisor.
  constexpr std::array<std::string_view, 4> counters{
      "tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"};
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string source;
  file >> source;
  return std::ranges::find(counters, source) != counters.end();
}

}  // namespace tessera::rma::detail
