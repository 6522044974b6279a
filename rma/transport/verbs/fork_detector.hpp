// SPDX-License-Identifier: BSD-3-Clause
//
// ForkDetector: whether this process made the object, or is a child that was forked later. Devices,
// registrations and threads stay with the parent.
//
// Threads: any. Cost: a page; a query is a load, while getpid() would be a system call.
#pragma once

#include <atomic>
#include <utility>

#include "rma/base/result.hpp"

namespace tessera::rma::verbs {

class ForkDetector {
 public:
  /// Errors: no_memory; unsupported on kernels before 4.14.
  static Result<ForkDetector> create();
  ~ForkDetector();
  ForkDetector(ForkDetector&& other) noexcept : flag_(std::exchange(other.flag_, nullptr)) {}
  ForkDetector& operator=(ForkDetector&&) = delete;

  [[nodiscard]] bool is_in_child() const noexcept {
    return flag_->load(std::memory_order_relaxed) == 0;
  }

 private:
  explicit ForkDetector(std::atomic<int>* flag) noexcept : flag_(flag) {}
  std::atomic<int>* flag_;  // in a page that the kernel clears in children
};

}  // namespace tessera::rma::verbs
