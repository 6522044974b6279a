// SPDX-License-Identifier: BSD-3-Clause
//
// RegisteredBufferPool: registered memory in equal pieces, for small messages and for transfers of
// memory that is not registered.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "rma/base/result.hpp"
#include "rma/transport/verbs/registration.hpp"

namespace tessera::rma::verbs {

class RegisteredBufferPool {
 public:
  /// Errors: no_memory, limit_exceeded (of locked memory).
  static Result<std::unique_ptr<RegisteredBufferPool>> create(Registrar& registrar,
                                                              std::size_t count, std::size_t bytes,
                                                              int access = IBV_ACCESS_LOCAL_WRITE);
  ~RegisteredBufferPool();
  RegisteredBufferPool(const RegisteredBufferPool&) = delete;
  RegisteredBufferPool& operator=(const RegisteredBufferPool&) = delete;

  /// The number of a free buffer, now the caller's; −1 if none is free.
  [[nodiscard]] int take() noexcept;
  void give_back(int buffer) noexcept;
  /// Fewer than half are free: callers that hold some should check whether their requests have
  /// completed.
  [[nodiscard]] bool is_scarce() const noexcept;

  [[nodiscard]] std::byte* at(int buffer) const noexcept {
    return memory_ + static_cast<std::size_t>(buffer) * bytes_;
  }
  /// Of each buffer.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint32_t key() const noexcept { return registration_.lkey(); }
  [[nodiscard]] std::uint32_t remote_key() const noexcept { return registration_.rkey(); }

 private:
  RegisteredBufferPool(std::byte* memory, std::size_t count, std::size_t bytes) noexcept;

  std::byte* memory_;
  std::size_t count_;
  std::size_t bytes_;
  Registration registration_;
  mutable std::mutex mutex_;
  std::vector<int> free_;
};

}  // namespace tessera::rma::verbs
