// SPDX-License-Identifier: BSD-3-Clause
//
// The processor's counter as a clock: reading steady_clock takes some sixty instructions, the
// counter one.
#pragma once

#include <chrono>
#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace tessera::rma::detail {

/// Whether the kernel takes its time from the counter: then it counts evenly, and equally on all
/// processors of the machine. Reads a file. Throws std::bad_alloc.
[[nodiscard]] bool kernel_trusts_counter();

/// Nanoseconds of steady_clock, which the processes of a machine share.
[[nodiscard]] inline std::int64_t steady_clock_ns() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// The counter, in ticks of any length. Loads before it may still be under way, which changes the
/// result by nanoseconds.
[[nodiscard]] inline std::int64_t processor_counter() noexcept {
#if defined(__x86_64__)
  return static_cast<std::int64_t>(__rdtsc());
#elif defined(__aarch64__)
  std::int64_t ticks = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return steady_clock_ns();
#endif
}

}  // namespace tessera::rma::detail
