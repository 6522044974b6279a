// SPDX-License-Identifier: BSD-3-Clause
#include "rma/progress/oversubscription_detector.hpp"

#include <sched.h>

#include <algorithm>

namespace tessera::rma::detail {

bool OversubscriptionDetector::yield() noexcept {
  constexpr std::chrono::microseconds slice{500};
  const auto before = Clock::now();
  sched_yield();
  return Clock::now() - before > slice;
}

void OversubscriptionDetector::record_lost_slice(Clock::time_point now) noexcept {
  if (now - until_ > limits_.reset_after) {
    length_ = {};
  }
  length_ = std::clamp(2 * length_, limits_.min_backoff, limits_.max_backoff);
  until_ = now + length_;
}

OversubscriptionDetector& OversubscriptionDetector::for_this_thread() noexcept {
  static thread_local constinit OversubscriptionDetector detector;
  return detector;
}

}  // namespace tessera::rma::detail
