// SPDX-License-Identifier: BSD-3-Clause
//
// Sleeping on a word of shared memory: the kernel's futex. rma/progress/waiter.hpp waits with it.
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

}  // namespace tessera::rma::detail
