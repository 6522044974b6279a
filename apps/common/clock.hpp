// SPDX-License-Identifier: BSD-3-Clause
//
// The clock of the programs.
#pragma once

#include <chrono>

namespace tessera::apps {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace tessera::apps
