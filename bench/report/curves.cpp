// SPDX-License-Identifier: BSD-3-Clause
#include "bench/report/curves.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "bench/report/backends.hpp"

namespace tessera::bench::report {
namespace {

std::string shape(std::string_view path) {
  return fmt::format("<path class=\"mark\" d=\"{}\"/>", path);
}

bool can_show(const Sheet& sheet, const Point& point) {
  return (sheet.x.spacing() == Spacing::linear || point.x > 0) &&
         (sheet.y.spacing() == Spacing::linear || point.y > 0);
}

std::vector<Point> points_in_order(const Series& series, const Sheet& sheet) {
  std::vector<Point> points;
  std::copy_if(series.points.begin(), series.points.end(), std::back_inserter(points),
               [&sheet](const Point& point) { return can_show(sheet, point); });
  std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.x < b.x; });
  return points;
}

/// An interval's end that a logarithmic axis can't show lies on the axis.
double height_of(const Sheet& sheet, double value) {
  const bool is_above = sheet.y.spacing() == Spacing::linear || value > 0;
  return sheet.y(is_above ? value : sheet.y.values().lo);
}

std::string band(const std::vector<Point>& points, const Sheet& sheet) {
  std::string path;
  for (const Point& point : points) {
    path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "M" : "L", sheet.x(point.x),
                        height_of(sheet, point.ci95.hi));
  }
  for (auto point = points.rbegin(); point != points.rend(); ++point) {
    path += fmt::format("L{:.1f},{:.1f}", sheet.x(point->x), height_of(sheet, point->ci95.lo));
  }
  return fmt::format("<path class=\"band\" d=\"{}Z\"/>", path);
}

std::string line(const std::vector<Point>& points, const Sheet& sheet, int style) {
  std::string path;
  for (const Point& point : points) {
    path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "M" : "L", sheet.x(point.x),
                        sheet.y(point.y));
  }
  return fmt::format("<path class=\"line\" d=\"{}\"{}/>", path, dashes(style));
}

std::string whisker(double x, double from, double to) {
  constexpr double half_width = 3;
  return fmt::format(
      "<path class=\"whisker\" d=\"M{0:.1f},{3:.1f}V{4:.1f}M{1:.1f},{3:.1f}H{2:.1f}"
      "M{1:.1f},{4:.1f}H{2:.1f}\"/>",
      x, x - half_width, x + half_width, from, to);
}

std::string markers(const Chart& chart, const Series& series, const std::vector<Point>& points,
                    const Sheet& sheet) {
  std::string drawn;
  for (const Point& point : points) {
    const double x = sheet.x(point.x);
    drawn += fmt::format("<g><title>{}</title>", escape(say(chart, series, point)));
    if (points.size() == 1) {  // has no band
      drawn += whisker(x, height_of(sheet, point.ci95.lo), height_of(sheet, point.ci95.hi));
    }
    drawn += marker(series.style, x, sheet.y(point.y)) + "</g>";
  }
  return drawn;
}

/// How the bars of a category share its width.
struct Columns {
  double width;  ///< of a category
  std::size_t count;

  [[nodiscard]] double bar_width() const {
    constexpr double filled = 0.8;
    constexpr double widest = 64;
    return std::min(filled * width / static_cast<double>(count), widest);
  }
  [[nodiscard]] double left_of(double middle, std::size_t number) const {
    return middle + (static_cast<double>(number) - static_cast<double>(count) / 2) * bar_width();
  }
};

std::string column(const Chart& chart, const Series& series, const Point& point, const Sheet& sheet,
                   const Area& area, double left, double width) {
  constexpr double gap = 2;
  constexpr double room_for_a_number = 46;
  constexpr double below = 15;
  const double top = sheet.y(point.y);
  const double middle = left + width / 2;
  std::string drawn = fmt::format("<g class=\"s{}\"><title>{}</title>", series.style,
                                  escape(say(chart, series, point)));
  drawn += chart.has_bars() ? fmt::format(
                                  "<rect class=\"bar\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
                                  "height=\"{:.1f}\"/>",
                                  left + gap / 2, top, std::max(width - gap, 1.0),
                                  std::max(area.bottom - top, 0.0))
                            : marker(series.style, middle, top);
  drawn += whisker(middle, height_of(sheet, point.ci95.lo), height_of(sheet, point.ci95.hi));
  if (width >= room_for_a_number) {
    drawn += fmt::format("<text class=\"value\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", middle,
                         area.bottom + below, escape(label(point.y, chart.y.unit)));
  }
  return drawn + "</g>";
}

}  // namespace

std::string curves(const Chart& chart, const Sheet& sheet) {
  std::string drawn;
  for (const Series& series : chart.series) {
    const std::vector<Point> points = points_in_order(series, sheet);
    if (points.empty()) {
      continue;
    }
    drawn += fmt::format("<g class=\"s{}\">", series.style);
    if (points.size() > 1) {
      drawn += band(points, sheet) + line(points, sheet, series.style);
    }
    drawn += markers(chart, series, points, sheet) + "</g>";
  }
  return drawn;
}

std::string columns(const Chart& chart, const Sheet& sheet, const Area& area) {
  const Columns share{(area.right - area.left) / static_cast<double>(chart.categories.size()),
                      chart.series.size()};
  std::string drawn;
  for (std::size_t number = 0; number < chart.series.size(); ++number) {
    const Series& series = chart.series[number];
    for (const Point& point : series.points) {
      if (can_show(sheet, point)) {
        drawn += column(chart, series, point, sheet, area, share.left_of(sheet.x(point.x), number),
                        share.bar_width());
      }
    }
  }
  return drawn;
}

std::string marker(int style, double x, double y) {
  const auto at = [x, y](std::string_view path) {
    return fmt::format("<g transform=\"translate({:.1f},{:.1f})\">{}</g>", x, y, shape(path));
  };
  constexpr std::array<std::string_view, styles> paths = {
      "M-4,0A4,4 0 1 0 4,0A4,4 0 1 0 -4,0Z",                          // disc
      "M-3.5,-3.5H3.5V3.5H-3.5Z",                                     // square
      "M0,-4.5L4.5,3.5H-4.5Z",                                        // triangle
      "M0,-5L5,0L0,5L-5,0Z",                                          // diamond
      "M0,4.5L4.5,-3.5H-4.5Z",                                        // triangle, point down
      "M-4,-2L-2,-4L0,-2L2,-4L4,-2L2,0L4,2L2,4L0,2L-2,4L-4,2L-2,0Z",  // oblique cross
      "M-1.5,-5H1.5V-1.5H5V1.5H1.5V5H-1.5V1.5H-5V-1.5H-1.5Z",         // upright cross
      "M-2,-5H2V5H-2Z",                                               // bar
  };
  return at(paths[static_cast<std::size_t>(style % styles)]);
}

std::string dashes(int style) {
  constexpr std::array<std::string_view, styles> patterns = {"",    "6 3", "2 3",  "9 3 2 3",
                                                             "4 2", "1 2", "12 4", "8 2 2 2 2 2"};
  const std::string_view pattern = patterns[static_cast<std::size_t>(style % styles)];
  return pattern.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", pattern);
}

std::string say(const Chart& chart, const Series& series, const Point& point) {
  const auto place = static_cast<std::size_t>(std::max(point.x, 0.0));
  const std::string where =
      place < chart.categories.size() ? chart.categories[place] : label(point.x, chart.x.unit);
  const std::string_view unit = symbol(chart.y.unit);
  return fmt::format("{}: {} {} [{},{}]{}{}", where, series.name, plain(point.y),
                     plain(point.ci95.lo), plain(point.ci95.hi), unit.empty() ? "" : " ", unit);
}

}  // namespace tessera::bench::report
