// SPDX-License-Identifier: BSD-3-Clause
//
// The parts of which drawing.cpp composes a chart.
#pragma once

#include <string>

#include "bench/report/chart.hpp"
#include "bench/report/scale.hpp"

namespace tessera::bench::report {

/// Where values lie in a chart's drawing.
struct Sheet {
  Scale x;
  Scale y;
};

/// In the units of the drawing.
struct Area {
  double left;
  double top;
  double right;
  double bottom;
};

/// The bands, lines and markers of all series.
std::string curves(const Chart& chart, const Sheet& sheet);
/// Bars, or dots on a logarithmic axis, for each category, with their intervals; their values stand
/// below if there is room.
std::string columns(const Chart& chart, const Sheet& sheet, const Area& area);

/// Marker number `style` at a position.
std::string marker(int style, double x, double y);
/// The dashes of style `style`, as an attribute; empty for a solid line.
std::string dashes(int style);

/// "8 B: tessera 1.5 [1.4,1.6] µs", not escaped.
std::string say(const Chart& chart, const Series& series, const Point& point);

}  // namespace tessera::bench::report
