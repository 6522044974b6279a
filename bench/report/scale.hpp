// SPDX-License-Identifier: BSD-3-Clause
//
// Scale: where a value lies on paper; and the ticks that an axis has.
#pragma once

#include <string>
#include <vector>

#include "bench/report/text.hpp"
#include "bench/support/statistics.hpp"

namespace tessera::bench::report {

enum class Spacing { linear, logarithmic };

class Scale {
 public:
  /// `values.lo` comes to lie at `paper.lo`, `values.hi` at `paper.hi`, which may be the smaller.
  /// Requires: values.lo < values.hi; positive where logarithmic.
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

/// An axis that has room for all of `values`, with a little air where they don't go up in powers of
/// two; a linear one begins at 0. One that shows a single value has room on both sides of it.
/// Values that the spacing can't show don't count; where there are none it is [1, 10].
Interval axis_range(const std::vector<double>& values, Unit unit, Spacing spacing);

struct Tick {
  double value;
  std::string label;
};

/// At most some ten, ascending: powers of two for bytes and powers on a logarithmic axis; else
/// powers of ten, and numbers between them where there are few; on a linear axis multiples of 1, 2
/// or 5 times a power of ten.
std::vector<Tick> ticks(Interval values, Unit unit, Spacing spacing);

}  // namespace tessera::bench::report
