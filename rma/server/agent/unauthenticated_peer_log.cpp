// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/agent/unauthenticated_peer_log.hpp"

#include <fmt/format.h>

#include <utility>

namespace tessera::rma::server {

bool UnauthenticatedPeerLog::takes_line(Clock::time_point now) {
  const std::lock_guard guard(mutex_);
  if (counted_ == 0 && now - last_ >= limits_.period) {
    lines_ = 0;
  }
  last_ = now;
  if (lines_ < limits_.lines) {
    ++lines_;
    last_logged_ = now;
    return true;
  }
  ++counted_;
  return false;
}

void UnauthenticatedPeerLog::report_count(Clock::time_point now) {
  std::uint64_t count = 0;
  {
    const std::lock_guard guard(mutex_);
    if (counted_ == 0 || now - last_logged_ < limits_.period) {
      return;
    }
    count = std::exchange(counted_, 0);
    last_logged_ = now;
  }
  warn_(
      fmt::format("{} more connections ended without proving that they belong to this job", count));
}

}  // namespace tessera::rma::server
