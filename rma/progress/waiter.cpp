// SPDX-License-Identifier: BSD-3-Clause
#include "rma/progress/waiter.hpp"

#include <cerrno>
#include <ctime>

namespace tessera::rma::detail {

void OnDescriptor::sleep(std::chrono::nanoseconds /*elapsed*/,
                         std::chrono::nanoseconds longest) noexcept {
  constexpr std::chrono::nanoseconds soon = std::chrono::milliseconds(1);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(longest);
  const timespec limit{.tv_sec = seconds.count(), .tv_nsec = (longest - seconds).count()};
  entry_.revents = 0;
  if (ppoll(&entry_, 1, &limit, nullptr) < 0 && errno != EINTR) {
    std::this_thread::sleep_for(std::min(longest, soon));  // the system can't wait at present
  }
}

// Advances the delegate if no other thread does. Returns the length of the next sleep.
std::chrono::nanoseconds Waiter::advance_before_sleep(
    std::chrono::nanoseconds max_sleep) const noexcept {
  const std::chrono::nanoseconds longest = delegate_->max_sleep();
  if (longest >= max_sleep) {
    return max_sleep;
  }
  const ProgressScope progress(delegate_);
  progress.advance();
  return longest;
}

}  // namespace tessera::rma::detail
