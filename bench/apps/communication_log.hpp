// SPDX-License-Identifier: BSD-3-Clause
//
// CommunicationLog: what this rank's products spent communicating, product by product, as far as
// they were measured.
//
// A candidate runs more often than it is measured: to be checked, to find out how many repetitions
// a sample needs, to warm up, and once before each sample. The log keeps the times of all of these
// calls, and picks those of the samples when they are over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace tessera::bench {

class CommunicationLog {
 public:
  /// `seconds_so_far` tells what all products of this rank spent, the last one included.
  explicit CommunicationLog(std::function<double()> seconds_so_far)
      : seconds_so_far_(std::move(seconds_so_far)) {}

  /// One call of the candidate: `multiply`, `repetitions` times.
  template <class Multiply>
  void call(std::int64_t repetitions, const Multiply& multiply) {
    std::vector<double>& products = calls_.emplace_back();
    products.reserve(static_cast<std::size_t>(repetitions));
    for (std::int64_t i = 0; i < repetitions; ++i) {
      multiply();
      products.push_back(us_since_last());
    }
  }

  /// Microseconds of each product of the last `samples` samples, which end with the last call.
  /// `is_primed`: before each of them stood a call that isn't one, as MeasureOptions::prime has it.
  /// Requires: as many calls.
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
  double us_since_last() {
    constexpr double us_per_second = 1e6;
    const double before = std::exchange(last_seconds_, seconds_so_far_());
    return (last_seconds_ - before) * us_per_second;
  }

  std::function<double()> seconds_so_far_;
  double last_seconds_ = 0;
  std::vector<std::vector<double>> calls_;
};

}  // namespace tessera::bench
