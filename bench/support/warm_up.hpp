// SPDX-License-Identifier: BSD-3-Clause
//
// WarmUp: decides when times have settled.
//
// Samples are taken in windows. Times have settled when the medians of the last three windows lie
// within 1 % of each other. Caches, page tables, branch predictors and clock frequency settle; the
// load of other programs doesn't. So the caller also limits the time, and reports if it reached the
// limit.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace tessera::bench {

class WarmUp {
 public:
  static constexpr std::size_t window_samples = 15;
  static constexpr std::size_t windows = 3;
  static constexpr double tolerance = 0.01;

  void add(double sample);

  /// Relative distance of the extreme medians of the last windows; infinite until there are enough
  /// windows.
  [[nodiscard]] double movement() const { return movement_; }
  [[nodiscard]] bool is_settled() const { return movement_ < tolerance; }
  /// The median of the last full window, or 0.
  [[nodiscard]] double median() const { return medians_.empty() ? 0 : medians_.back(); }

 private:
  std::vector<double> window_;
  std::vector<double> medians_;
  double movement_ = std::numeric_limits<double>::infinity();
};

}  // namespace tessera::bench
