// SPDX-License-Identifier: BSD-3-Clause
#include "bench/support/clock.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

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

// Reads schedstat, which counts nanoseconds. The ticks of `stat` are 10 ms, as much as an idle
// thread may take in a second.
std::optional<std::chrono::nanoseconds> processor_time_of(std::string_view name) {
  std::optional<std::chrono::nanoseconds> total;
  std::error_code gone;
  for (std::filesystem::directory_iterator each("/proc/self/task", gone), end; !gone && each != end;
       each.increment(gone)) {
    std::string its_name;
    std::getline(std::ifstream(each->path() / "comm") >> std::ws, its_name);
    std::int64_t running_ns = 0;
    if (its_name == name && std::ifstream(each->path() / "schedstat") >> running_ns) {
      total = total.value_or(std::chrono::nanoseconds(0)) + std::chrono::nanoseconds(running_ns);
    }
  }
  return total;
}

std::int64_t thread_time_ns() {
  timespec time = {};
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) {
    throw std::system_error(errno, std::generic_category(),
                            "cannot read the processor time of a thread");
  }
  constexpr std::int64_t ns_per_s = 1'000'000'000;
  return time.tv_sec * ns_per_s + time.tv_nsec;
}

}  // namespace tessera::bench
