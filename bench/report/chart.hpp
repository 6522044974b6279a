// SPDX-License-Identifier: BSD-3-Clause
//
// Chart: numbers that belong on one sheet. How they are drawn is for drawing.hpp; where they come
// from, for whoever fills it.
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
  Interval ci95;  ///< of y; y twice where it isn't known
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
  std::string description = {};  ///< for those who can't see it
  Axis x;
  Axis y;
  std::vector<Series> series;
  /// The names of x = 0, 1, …; a chart that has them shows bars or dots, else curves.
  std::vector<std::string> categories = {};
  std::optional<double> level = std::nullopt;  ///< a line at that y

  [[nodiscard]] bool is_empty() const;
  /// A bar is as long as its number only where the axis begins at 0. On a logarithmic one dots
  /// stand in its place.
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
