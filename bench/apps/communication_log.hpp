// SPDX-License-Identifier: BSD-3-Clause
//
// What a candidate measures of its own calls. CallLog keeps the values of all calls;
// CommunicationLog records how long this rank's products communicate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace tessera::bench {

/// One value or several of each call. A candidate also runs for the check, to find the number of
/// repetitions, to warm up, and once before each sample; of_last() selects the samples.
class CallLog {
 public:
  void begin_call(std::size_t expected_values) { calls_.emplace_back().reserve(expected_values); }
  /// Requires: a call has begun.
  void add(double value) { calls_.back().push_back(value); }

  /// The values of the last `samples` samples, which end with the last call. `is_primed`: each
  /// sample follows a call that isn't one, as with MeasureOptions::prime. Requires: at least that
  /// many calls.
  [[nodiscard]] std::vector<double> of_last(std::int64_t samples, bool is_primed) const {
    const std::size_t calls_each = is_primed ? 2 : 1;
    const std::size_t calls = static_cast<std::size_t>(samples) * calls_each;
    std::vector<double> found;
    for (std::size_t i = calls_.size() - calls + calls_each - 1; i < calls_.size();
         i += calls_each) {
      found.insert(found.end(), calls_[i].begin(), calls_[i].end());
    }
    return found;
  }

 private:
  std::vector<std::vector<double>> calls_;
};

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
