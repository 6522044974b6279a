// SPDX-License-Identifier: BSD-3-Clause
//
// Routes: by which way the requests of a process come to this agent at last. A process whose
// intermediary is lost takes another way; what the old one had still passed on must not be carried
// out behind what came by the new one. So each change of way has a number, and what comes by an
// older one is dropped: the process was told that it is lost.
//
// Memory: for processes that have changed their way, only.
//
// Threads: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "rma/server/wire.hpp"

namespace tessera::rma::server {

class Routes {
 public:
  /// Notes the way of a request. True if it is an old one.
  [[nodiscard]] bool is_stale(const FrameHeader& request) {
    if (request.route == 0 && !has_any_.load(std::memory_order_acquire)) {
      return false;
    }
    const std::lock_guard guard(mutex_);
    if (request.route == 0) {
      return numbers_.contains(request.origin.value);
    }
    std::uint64_t& number = numbers_[request.origin.value];
    has_any_.store(true, std::memory_order_release);
    if (request.route < number) {
      return true;
    }
    number = request.route;
    return false;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::int32_t, std::uint64_t> numbers_;
  std::atomic<bool> has_any_{false};
};

}  // namespace tessera::rma::server
