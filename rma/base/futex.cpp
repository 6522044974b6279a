// SPDX-License-Identifier: BSD-3-Clause
#include "rma/base/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace tessera::rma::detail {

void futex_wait(FutexWord& word, std::uint32_t expected, std::chrono::nanoseconds period) noexcept {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(period);
  timespec limit{};
  limit.tv_sec = seconds.count();
  limit.tv_nsec = (period - seconds).count();
  // Not FUTEX_PRIVATE: the word is shared between processes. EAGAIN, EINTR and ETIMEDOUT all mean
  // that the caller must check the word again, which every caller does.
  syscall(SYS_futex, &word, FUTEX_WAIT, expected, &limit, nullptr, 0);
}

void futex_wake(FutexWord& word, int count) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE, count, nullptr, nullptr, 0);
}

void futex_wake_all(FutexWord& word) noexcept {
  futex_wake(word, INT_MAX);
}

}  // namespace tessera::rma::detail
