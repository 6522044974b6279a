// SPDX-License-Identifier: BSD-3-Clause
//
// LongWait: reports in the log that a wait takes long, and what the rank waits for, so that a job
// that hangs says where. The first warning comes after TESSERA_WAIT_WARNING_MS (a minute), the next
// ones each time the wait has doubled. With TESSERA_LOG=info there are also lines after 5 s, 10 s,
// 20 s, ….
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "rma/base/log.hpp"
#include "rma/base/rank.hpp"
#include "rma/tuning.hpp"

namespace tessera::rma::detail {

class LongWait {
 public:
  using Clock = std::chrono::steady_clock;

  explicit LongWait(const Settings& settings, Clock::time_point began = Clock::now()) noexcept
      : LongWait(std::chrono::milliseconds(settings.wait_warning_ms), began) {}
  /// `first_warning` 0: there are no warnings.
  explicit LongWait(std::chrono::milliseconds first_warning,
                    Clock::time_point began = Clock::now()) noexcept
      : began_(began), next_warning_(first_warning) {}

  /// The level of the line that is due now; `silent`: none is. A warning takes precedence over an
  /// info.
  [[nodiscard]] LogLevel due(Clock::time_point now) noexcept {
    const bool is_info = passes(next_info_, now);
    const bool is_warning = next_warning_ > Clock::duration::zero() && passes(next_warning_, now);
    return is_warning ? LogLevel::warning : is_info ? LogLevel::info : LogLevel::silent;
  }
  /// "60 s", or "300 ms" if it is less than a second.
  [[nodiscard]] std::string length(Clock::time_point now) const {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now - began_).count();
    constexpr std::int64_t second = 1000;
    return ms < second ? fmt::format("{} ms", ms) : fmt::format("{} s", ms / second);
  }

 private:
  bool passes(Clock::duration& next, Clock::time_point now) const noexcept {
    if (now - began_ < next) {
      return false;
    }
    next *= 2;
    return true;
  }

  Clock::time_point began_;
  Clock::duration next_info_ = std::chrono::seconds(5);
  Clock::duration next_warning_;
};

/// What a rank waits for at a rank of another node: "a get from".
struct WaitedFor {
  std::string_view what;
  WorldRank rank;

  /// "for a get from rank 3"
  [[nodiscard]] std::string describe() const {
    return fmt::format("for {} rank {}", what, rank.value);
  }
};

/// To be called at intervals during a wait. If a line is due and the log wants it, logs that the
/// rank "has waited 60 s " and what `describe()` returns.
template <class Describe>
void report_if_long(LongWait& wait, Log& log, Describe&& describe) noexcept {
  const auto now = LongWait::Clock::now();
  if (const LogLevel level = wait.due(now); level != LogLevel::silent) {
    log.line(level, [&] { return fmt::format("has waited {} {}", wait.length(now), describe()); });
  }
}

}  // namespace tessera::rma::detail
