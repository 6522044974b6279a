// SPDX-License-Identifier: BSD-3-Clause
//
// Scale: maps values to positions on paper, and finds the ticks of an axis.
#pragma once

#include <string>
#include <vector>

#include "bench/report/text.hpp"
#include "bench/support/statistics.hpp"

namespace tessera::bench::report {

enum class Spacing { linear, logarithmic };

class Scale {
 public:
  /// Maps `values.lo` to `paper.lo` and `values.hi` to `paper.hi`, which may be the smaller one.
  /// Requires: values.lo < values.hi; positive if logarithmic.
  Scale(Spacing spacing, Interval values, Interval paper);

  /// Values outside lie on the nearer end.
  [[nodiscard]] double operator()(double value) const;
  [[nodiscard]] Spacing spacing() const { return spacing_; }
  [[nodiscard]] Interval values() const { return values_; }

 private:
  Spacing spacing_;
  Interval values_;
  Interval paper_;
};

/// The range of an axis that shows all of `values`. It has some margin unless the axis goes up in
/// powers of two; a linear one begins at 0. An axis with a single value has room on both sides.
/// Ignores values that the spacing can't show; if there are no others, it is [1, 10].
Interval axis_range(const std::vector<double>& values, Unit unit, Spacing spacing);

struct Tick {
  double value;
  std::string label;
};

/// At most about ten ticks, ascending: powers of two for bytes and for powers on a logarithmic
/// axis. Otherwise powers of ten, and numbers between them if these are few. On a linear axis,
/// multiples of 1, 2 or 5 times a power of ten.
std::vector<Tick> ticks(Interval values, Unit unit, Spacing spacing);

}  // namespace tessera::bench::report
