// SPDX-License-Identifier: BSD-3-Clause
//
// CallLog: what a candidate measures of its own calls, one value or several per call; returns those
// of the samples.
//
// A candidate also runs for the check, to find the number of repetitions, to warm up, and once
// before each sample. The log keeps the values of all these calls, and selects those of the samples
// afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::bench {

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

}  // namespace tessera::bench
