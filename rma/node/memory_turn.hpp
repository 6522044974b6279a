// SPDX-License-Identifier: BSD-3-Clause
//
// MemoryTurn: processes that take the last memory of a machine do so one after another. Each looks
// how much is available and then takes some; two that look at the same time would both take the
// same memory, and the kernel would kill a process for it.
#pragma once

#include <chrono>

#include "rma/node/fd_passing.hpp"

namespace tessera::rma::detail {

class MemoryTurn {
 public:
  /// Waits until no other thread or process of this machine has the turn, be it of another job or
  /// node. A holder that dies loses it. Goes on without the turn after `patience`, as a holder may
  /// be stopped, and where the kernel has no such lock.
  explicit MemoryTurn(std::chrono::milliseconds patience = std::chrono::seconds(10)) noexcept;
  ~MemoryTurn();
  MemoryTurn(const MemoryTurn&) = delete;
  MemoryTurn& operator=(const MemoryTurn&) = delete;

  [[nodiscard]] bool is_held() const noexcept { return is_held_; }

 private:
  Descriptor file_;
  bool is_held_ = false;
};

}  // namespace tessera::rma::detail
