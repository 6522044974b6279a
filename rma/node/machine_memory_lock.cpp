// SPDX-License-Identifier: BSD-3-Clause
#include "rma/node/machine_memory_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <thread>

namespace tessera::rma::detail {

// Locks a file that exists on every machine and that all processes may open, so that no file is
// created that could remain.
MachineMemoryLock::MachineMemoryLock(std::chrono::milliseconds patience) noexcept
    : file_(open("/proc/meminfo", O_RDONLY | O_CLOEXEC)) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds between_tries{1};
  const auto deadline = Clock::now() + patience;
  while (file_.get() >= 0 && !is_held_) {
    is_held_ = flock(file_.get(), LOCK_EX | LOCK_NB) == 0;
    const bool is_taken = !is_held_ && (errno == EWOULDBLOCK || errno == EINTR);
    if (!is_taken || Clock::now() >= deadline) {
      return;
    }
    std::this_thread::sleep_for(between_tries);
  }
}

MachineMemoryLock::~MachineMemoryLock() {
  if (is_held_) {
    flock(file_.get(), LOCK_UN);  // explicit, as a child made by fork() meanwhile shares the
                                  // descriptor
  }
}

}  // namespace tessera::rma::detail
