// SPDX-License-Identifier: BSD-3-Clause
//
// Chart: numbers that belong on one chart. drawing.hpp draws them; other files fill it in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/report/scale.hpp"
#include "bench/report/text.hpp"
#include "bench/support/statistics.hpp"

namespace tessera::bench::report {

struct Point {
  double x = 0;
  double y = 0;
  Interval ci95;  ///< of y; y twice if unknown
};

struct Series {
  std::string name;
  int style = 0;  ///< colour, dashes and marker; see backends.hpp
  std::vector<Point> points;
};

struct Axis {
  std::string title;
  Unit unit = Unit::count;
  Spacing spacing = Spacing::linear;
};

struct Chart {
  std::string title;
  std::string subtitle = {};     ///< under which setting
  std::string description = {};  ///< text for readers who can't see the chart
  Axis x;
  Axis y;
  std::vector<Series> series;
  /// The names of x = 0, 1, …; a chart with categories shows bars or dots, otherwise curves.
  std::vector<std::string> categories = {};
  std::optional<double> level = std::nullopt;  ///< a horizontal line at that y

  [[nodiscard]] bool is_empty() const;
  /// A bar's length shows its number only if the axis begins at 0. A logarithmic axis has dots
  /// instead.
  [[nodiscard]] bool has_bars() const {
    return !categories.empty() && y.spacing == Spacing::linear;
  }
  /// Every x, ascending, once.
  [[nodiscard]] std::vector<double> places() const;
  /// Every y and the ends of its interval.
  [[nodiscard]] std::vector<double> heights() const;
};

/// A chart without series.
Chart blank_chart(std::string title, Axis x, Axis y);

}  // namespace tessera::bench::report
