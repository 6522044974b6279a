// SPDX-License-Identifier: BSD-3-Clause
//
// CommunicationLog: the communication time of this rank's products, for each measured product
// (call_log.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "bench/apps/call_log.hpp"

namespace tessera::bench {

class CommunicationLog {
 public:
  /// `seconds_so_far` returns the total of all products of this rank, including the last one.
  explicit CommunicationLog(std::function<double()> seconds_so_far)
      : seconds_so_far_(std::move(seconds_so_far)) {}

  /// One call of the candidate: `multiply`, `repetitions` times.
  template <class Multiply>
  void call(std::int64_t repetitions, const Multiply& multiply) {
    products_.begin_call(static_cast<std::size_t>(repetitions));
    for (std::int64_t i = 0; i < repetitions; ++i) {
      multiply();
      products_.add(us_since_last());
    }
  }

  /// Microseconds of each product of the last samples, as in CallLog::of_last().
  [[nodiscard]] std::vector<double> of_last(std::int64_t samples, bool is_primed) const {
    return products_.of_last(samples, is_primed);
  }

 private:
  double us_since_last() {
    constexpr double us_per_second = 1e6;
    const double before = std::exchange(last_seconds_, seconds_so_far_());
    return (last_seconds_ - before) * us_per_second;
  }

  std::function<double()> seconds_so_far_;
  double last_seconds_ = 0;
  CallLog products_;
};

}  // namespace tessera::bench
