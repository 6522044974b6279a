// SPDX-License-Identifier: BSD-3-Clause
//
// RouteTable: the agent's record of the routes by which requests of each process arrive. A process
// whose intermediary is lost takes another route. Requests that the old intermediary still passes
// on must not be executed after those that came by the new route. So each change of route has a
// number, and requests with an older number are dropped: the process was notified that they are
// lost.
//
// Memory: an entry only for processes that have changed their route.
//
// Threads: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "rma/server/wire/wire.hpp"

namespace tessera::rma::server {

class RouteTable {
 public:
  /// Records the route number of a request. Returns true if the request came by an old route.
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
