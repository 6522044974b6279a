// SPDX-License-Identifier: BSD-3-Clause
//
// Measurements of networks, which transports make when a job starts.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <vector>

namespace tessera::rma::detail {

[[nodiscard]] inline double ns_since(std::chrono::steady_clock::time_point start) noexcept {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

/// The time per further item: (all − first) / count; at least 1, since clocks and devices are
/// coarse.
[[nodiscard]] inline double added(double all, double first, double count) noexcept {
  return std::max(1.0, (all - first) / count);
}

/// Copies the second half of `memory` to the first; returns the nanoseconds that 1 KiB took.
[[nodiscard]] inline double copied_kib_ns(std::vector<std::byte>& memory) noexcept {
  const std::size_t half = memory.size() / 2;
  const auto start = std::chrono::steady_clock::now();
  std::memcpy(memory.data(), memory.data() + half, half);
  return ns_since(start) * 1024 / static_cast<double>(half);
}

}  // namespace tessera::rma::detail
