// SPDX-License-Identifier: BSD-3-Clause
#include "rma/node/machine_memory_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "rma/progress/waiter.hpp"

namespace tessera::rma::detail {

// Locks a file that exists on every machine and that all processes may open, so that no file is
// created that could remain.
MachineMemoryLock::MachineMemoryLock(std::chrono::milliseconds timeout) noexcept
    : file_(open("/proc/meminfo", O_RDONLY | O_CLOEXEC)) {
  constexpr TimedWaits waits{.first = std::chrono::milliseconds(1),
                             .longest = std::chrono::milliseconds(1)};
  if (file_.get() < 0) {
    return;
  }
  poll_until(waits, Waiter::Clock::now() + timeout, [&] {
    is_held_ = flock(file_.get(), LOCK_EX | LOCK_NB) == 0;
    const bool is_taken = !is_held_ && (errno == EWOULDBLOCK || errno == EINTR);
    return !is_taken;
  });
}

MachineMemoryLock::~MachineMemoryLock() {
  if (is_held_) {
    flock(file_.get(), LOCK_UN);  // explicit, as a child made by fork() meanwhile shares the
                                  // descriptor
  }
}

}  // namespace tessera::rma::detail
