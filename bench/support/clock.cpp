// SPDX-License-Identifier: BSD-3-Clause
#include "bench/support/clock.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace tessera::bench {

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double timer_cost_ns(const Clock& clock) {
  // One difference is only a few ticks of the clock, so each measurement spans `readings` of them.
  constexpr int readings = 32;
  std::array<double, 65> costs = {};
  for (double& cost : costs) {
    const std::int64_t start = clock();
    std::int64_t end = start;
    for (int i = 0; i < readings; ++i) {
      end = clock();
    }
    cost = static_cast<double>(end - start) / readings;
  }
  const auto middle = costs.begin() + costs.size() / 2;
  std::nth_element(costs.begin(), middle, costs.end());
  return *middle;
}

}  // namespace tessera::bench
