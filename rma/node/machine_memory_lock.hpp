// SPDX-License-Identifier: BSD-3-Clause
//
// MachineMemoryLock: a lock under which processes commit the last memory of a machine one after
// another. Each reads how much is available and then commits some. Two that read at the same time
// would both commit the same memory, and the kernel would kill a process.
#pragma once

#include <chrono>

#include "rma/base/fd_passing.hpp"

namespace tessera::rma::detail {

class MachineMemoryLock {
 public:
  /// Waits until no other thread or process of this machine has the lock, also of other jobs and
  /// nodes. A holder that dies loses it. Continues without the lock after `timeout`, as a holder
  /// may be stopped, and if the kernel has no such lock.
  explicit MachineMemoryLock(std::chrono::milliseconds timeout = std::chrono::seconds(10)) noexcept;
  ~MachineMemoryLock();
  MachineMemoryLock(const MachineMemoryLock&) = delete;
  MachineMemoryLock& operator=(const MachineMemoryLock&) = delete;

  [[nodiscard]] bool is_held() const noexcept { return is_held_; }

 private:
  Descriptor file_;
  bool is_held_ = false;
};

}  // namespace tessera::rma::detail
