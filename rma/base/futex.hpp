// SPDX-License-Identifier: BSD-3-Clause
//
// Sleeping on a word of shared memory: the kernel's futex, after a short busy wait.
//
// Waiters spin briefly because a hand-over between two running processes takes well under a
// microsecond. Then they yield and soon sleep, because on a machine with fewer cores
// than ranks the peer can only run while the waiter does not. MPI codes that only yield lose a
// factor of 10^4 there.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace tessera::rma::detail {

/// A 32-bit word on which processes may sleep. Must be in shared memory.
using FutexWord = std::atomic<std::uint32_t>;
static_assert(FutexWord::is_always_lock_free && sizeof(FutexWord) == 4);

/// Sleeps while `word` equals `expected`, at most for `period`. May return early without a reason.
void futex_wait(FutexWord& word, std::uint32_t expected, std::chrono::nanoseconds period) noexcept;

/// Wakes up to `count` sleepers.
void futex_wake(FutexWord& word, int count) noexcept;

/// Wakes all sleepers.
void futex_wake_all(FutexWord& word) noexcept;

/// Hints to the processor that this is a busy wait.
inline void cpu_relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Calls `ready` until it returns true or `budget` has passed; returns its last result.
template <class Ready>
bool spin_until(std::chrono::nanoseconds budget, Ready&& ready) {
  // The clock is read once in 16 polls: reading it costs as much as several polls.
  constexpr int polls_per_clock_read = 16;
  const auto start = std::chrono::steady_clock::now();
  do {
    for (int i = 0; i < polls_per_clock_read; ++i) {
      if (ready()) {
        return true;
      }
      cpu_relax();
    }
  } while (std::chrono::steady_clock::now() - start < budget);
  return ready();
}

}  // namespace tessera::rma::detail
