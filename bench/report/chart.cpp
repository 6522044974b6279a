// SPDX-License-Identifier: BSD-3-Clause
#include "bench/report/chart.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace tessera::bench::report {

bool Chart::is_empty() const {
  return std::all_of(series.begin(), series.end(),
                     [](const Series& each) { return each.points.empty(); });
}

Chart blank_chart(std::string title, Axis x, Axis y) {
  Chart chart;
  chart.title = std::move(title);
  chart.x = std::move(x);
  chart.y = std::move(y);
  return chart;
}

std::vector<double> Chart::places() const {
  std::set<double> found;
  for (const Series& each : series) {
    for (const Point& point : each.points) {
      found.insert(point.x);
    }
  }
  return {found.begin(), found.end()};
}

std::vector<double> Chart::heights() const {
  std::vector<double> found;
  for (const Series& each : series) {
    for (const Point& point : each.points) {
      found.insert(found.end(), {point.y, point.ci95.lo, point.ci95.hi});
    }
  }
  if (level) {
    found.push_back(*level);
  }
  return found;
}

}  // namespace tessera::bench::report
