// SPDX-License-Identifier: BSD-3-Clause
//
// Time for benchmarks: monotonic nanoseconds, and what reading the clock costs.
//
// A clock is passed as a function, so that the tests of the method run on invented time.
#pragma once

#include <cstdint>
#include <functional>

namespace tessera::bench {

/// Returns nanoseconds since an arbitrary start; never goes back.
using Clock = std::function<std::int64_t()>;

/// The machine's steady clock.
std::int64_t now_ns();

/// The median difference of two successive readings of `clock`, in nanoseconds: what one timed
/// sample contains that isn't the work.
double timer_cost_ns(const Clock& clock = now_ns);

}  // namespace tessera::bench
