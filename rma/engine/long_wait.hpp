// SPDX-License-Identifier: BSD-3-Clause
//
// LongWait: when a wait has taken so long that who looks into a job that stands still wants to know
// of it. It is told in the log, with TESSERA_LOG=info.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <new>

#include "rma/log.hpp"

namespace tessera::rma::detail {

class LongWait {
 public:
  using Clock = std::chrono::steady_clock;

  /// True once behind 5 s, behind 10, 20 and so on.
  [[nodiscard]] bool is_due(Clock::time_point now) noexcept {
    const bool is = now - began_ >= next_;
    next_ = is ? 2 * next_ : next_;
    return is;
  }
  [[nodiscard]] std::chrono::seconds length(Clock::time_point now) const noexcept {
    return std::chrono::duration_cast<std::chrono::seconds>(now - began_);
  }

 private:
  Clock::time_point began_ = Clock::now();
  Clock::duration next_ = std::chrono::seconds(5);
};

/// To be called now and then in a wait: says that it "has waited 5 s " and what `describe()`
/// returns, when that is due, anybody reads it and there is memory for it.
template <class Describe>
void tell_if_long(LongWait& wait, Log& log, Describe&& describe) noexcept {
  const auto now = LongWait::Clock::now();
  if (!wait.is_due(now) || !log.wants(LogLevel::info)) {
    return;
  }
  try {
    log.info(fmt::format("has waited {} s {}", wait.length(now).count(), describe()));
  } catch (const std::bad_alloc&) {
    // It is told when the next time is due.
  }
}

}  // namespace tessera::rma::detail
