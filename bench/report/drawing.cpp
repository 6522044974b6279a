// SPDX-License-Identifier: BSD-3-Clause
#include "bench/report/drawing.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include "bench/report/curves.hpp"

namespace tessera::bench::report {
namespace {

constexpr double width = 560;
constexpr double height = 320;
constexpr Area area = {70, 28, 546, 272};
constexpr double letter_width = 6.6;

std::string text(std::string_view kind, double x, double y, std::string_view content) {
  return fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", kind, x, y,
                     escape(content));
}

/// From the first place to the last, wherever 0 is.
Interval x_range(const Chart& chart) {
  const std::vector<double> places = chart.places();
  if (chart.x.spacing == Spacing::logarithmic || places.size() < 2) {
    return axis_range(places, chart.x.unit, chart.x.spacing);
  }
  return {places.front(), places.back()};
}

Sheet sheet_of(const Chart& chart) {
  constexpr double markers = 10;  // half of one, and a little
  if (!chart.categories.empty()) {
    const auto count = static_cast<double>(chart.categories.size());
    return {{Spacing::linear, {-0.5, count - 0.5}, {area.left, area.right}},
            {chart.y.spacing,
             axis_range(chart.heights(), chart.y.unit, chart.y.spacing),
             {area.bottom, area.top}}};
  }
  return {{chart.x.spacing, x_range(chart), {area.left + markers, area.right - markers}},
          {chart.y.spacing,
           axis_range(chart.heights(), chart.y.unit, chart.y.spacing),
           {area.bottom, area.top}}};
}

std::string height_axis(const Chart& chart, const Sheet& sheet) {
  constexpr double before = 7;
  constexpr double half_letter = 4;
  std::string drawn;
  for (const Tick& tick : ticks(sheet.y.values(), chart.y.unit, chart.y.spacing)) {
    const double y = sheet.y(tick.value);
    drawn +=
        fmt::format("<path class=\"grid\" d=\"M{:.1f},{:.1f}H{:.1f}\"/>", area.left, y, area.right);
    drawn += text("tick-y", area.left - before, y + half_letter, tick.label);
  }
  constexpr double title_y = 14;
  return drawn + text("axis-y", 4, title_y, chart.y.title);
}

/// The number of letters of `name`, in UTF-8.
std::size_t letters_of(std::string_view name) {
  return static_cast<std::size_t>(std::count_if(name.begin(), name.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80;
  }));
}

/// The first `most` letters, with an ellipsis if the name is longer.
std::string shortened(const std::string& name, std::size_t most) {
  std::size_t end = name.size();
  while (letters_of(std::string_view(name).substr(0, end)) > most) {
    --end;  // even from the middle of a letter
  }
  return end == name.size() ? name : name.substr(0, end) + "…";
}

/// A long name in two lines of at most `most` letters, broken at the last possible blank; shortened
/// if there is no such blank.
std::vector<std::string> lines_of(const std::string& name, std::size_t most) {
  if (letters_of(name) <= most) {
    return {name};
  }
  for (std::size_t blank = name.rfind(' '); blank != std::string::npos && blank > 0;
       blank = name.rfind(' ', blank - 1)) {
    const std::string first = name.substr(0, blank);
    if (letters_of(first) <= most) {
      return {first, shortened(name.substr(blank + 1), most)};
    }
  }
  return {shortened(name, most)};
}

std::string category_axis(const Chart& chart, const Sheet& sheet) {
  constexpr double narrowest = 26;
  constexpr double below = 33;  // the bars' values
  constexpr double line_height = 13;
  const double each = (area.right - area.left) / static_cast<double>(chart.categories.size());
  const auto step = static_cast<std::size_t>(std::max(1.0, narrowest / each + 0.999));
  const auto room = static_cast<std::size_t>(
      std::max((each * static_cast<double>(step) - 4) / letter_width, 2.0));
  std::string drawn;
  for (std::size_t i = 0; i < chart.categories.size(); i += step) {
    const double x = sheet.x(static_cast<double>(i));
    const std::string& name = chart.categories[i];
    // A second line would lie where the axis has its title.
    const auto lines = chart.x.title.empty() ? lines_of(name, room)
                                             : std::vector<std::string>{shortened(name, room)};
    drawn += fmt::format("<g><title>{}</title>", escape(name));
    for (std::size_t line = 0; line < lines.size(); ++line) {
      drawn += text("tick-x", x, area.bottom + below + static_cast<double>(line) * line_height,
                    lines[line]);
    }
    drawn += "</g>";
  }
  return drawn;
}

std::string length_axis(const Chart& chart, const Sheet& sheet) {
  constexpr double below = 17;
  constexpr double notch = 4;
  std::string drawn;
  for (const Tick& tick : ticks(sheet.x.values(), chart.x.unit, chart.x.spacing)) {
    const double x = sheet.x(tick.value);
    drawn += fmt::format("<path class=\"axis\" d=\"M{:.1f},{:.1f}v{}\"/>", x, area.bottom, notch);
    drawn += text("tick-x", x, area.bottom + below, tick.label);
  }
  return drawn;
}

std::string level_line(const Chart& chart, const Sheet& sheet) {
  return chart.level ? fmt::format("<path class=\"level\" d=\"M{:.1f},{:.1f}H{:.1f}\"/>", area.left,
                                   sheet.y(*chart.level), area.right)
                     : "";
}

std::string value_cells(const Point* point) {
  return point == nullptr
             ? "<td></td><td></td>"
             : fmt::format("<td>{}</td><td class=\"ci\">[{}, {}]</td>", plain(point->y),
                           plain(point->ci95.lo), plain(point->ci95.hi));
}

const Point* find(const Series& series, double x) {
  const auto found = std::find_if(series.points.begin(), series.points.end(),
                                  [x](const Point& point) { return point.x == x; });
  return found == series.points.end() ? nullptr : &*found;
}

constexpr double strip_width = 180;
constexpr double strip_height = 18;

Scale strip_scale(Interval range) {
  constexpr double margin = 16;
  return {Spacing::logarithmic, range, {margin, strip_width - margin}};
}

}  // namespace

std::string draw(const Chart& chart) {
  const Sheet sheet = sheet_of(chart);
  const bool has_categories = !chart.categories.empty();
  std::string drawn = fmt::format(
      "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" "
      "role=\"img\" aria-label=\"{}\"><title>{}</title><desc>{}</desc>",
      width, height, escape(chart.title), escape(chart.title), escape(chart.description));
  drawn += height_axis(chart, sheet);
  drawn += has_categories ? category_axis(chart, sheet) : length_axis(chart, sheet);
  const double title_below = has_categories ? 46 : 38;
  drawn += text("axis-x", (area.left + area.right) / 2, area.bottom + title_below, chart.x.title);
  drawn += level_line(chart, sheet);
  drawn += has_categories ? columns(chart, sheet, area) : curves(chart, sheet);
  drawn += fmt::format("<path class=\"axis\" d=\"M{0},{1}V{2}H{3}\"/></svg>", area.left, area.top,
                       area.bottom, area.right);
  return drawn;
}

namespace {

std::string legend_sample(const Chart& chart, const Series& series) {
  if (chart.has_bars()) {
    return "<rect class=\"bar\" x=\"9\" y=\"1\" width=\"14\" height=\"10\"/>";
  }
  const std::string line =
      chart.categories.empty()
          ? fmt::format("<path class=\"line\" d=\"M1,6H31\"{}/>", dashes(series.style))
          : "";
  return line + marker(series.style, 16, 6);
}

}  // namespace

std::string legend(const Chart& chart) {
  std::string drawn;
  for (const Series& series : chart.series) {
    drawn += fmt::format(
        "<li><svg class=\"s{}\" xmlns=\"http://www.w3.org/2000/svg\" width=\"32\" height=\"12\" "
        "aria-hidden=\"true\">{}</svg>{}</li>",
        series.style, legend_sample(chart, series), escape(series.name));
  }
  return "<ul class=\"legend\">" + drawn + "</ul>";
}

std::string table_of(const Chart& chart) {
  const std::string_view unit = symbol(chart.y.unit);
  const std::string in_unit = unit.empty() ? "" : fmt::format(" ({})", unit);
  std::string head = fmt::format("<th>{}</th>", escape(chart.x.title));
  for (const Series& series : chart.series) {
    head += fmt::format("<th>{}{}</th><th>95 %</th>", escape(series.name), in_unit);
  }
  std::string lines;
  for (const double x : chart.places()) {
    const auto place = static_cast<std::size_t>(std::max(x, 0.0));
    lines +=
        fmt::format("<tr><th>{}</th>",
                    place < chart.categories.size() ? escape(chart.categories[place]) : plain(x));
    for (const Series& series : chart.series) {
      lines += value_cells(find(series, x));
    }
    lines += "</tr>\n";
  }
  return fmt::format("<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>", head, lines);
}

std::string figure(const Chart& chart) {
  if (chart.is_empty()) {
    return "";
  }
  return figure(chart.title, chart.subtitle, legend(chart) + draw(chart),
                "<div class=\"wide\">" + table_of(chart) + "</div>");
}

std::string figure(std::string_view title, std::string_view subtitle, std::string_view drawn,
                   std::string_view numbers) {
  return fmt::format(
      "<figure><figcaption>{}{}</figcaption>{}<details><summary>Numbers</summary>{}</details>"
      "</figure>\n",
      escape(title), subtitle.empty() ? "" : "<small>" + escape(subtitle) + "</small>", drawn,
      numbers);
}

std::string table(std::string_view head, std::string_view body) {
  return fmt::format(
      "<div class=\"wide\"><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>\n",
      head, body);
}

std::string draw_interval(const Ratio& ratio, Interval range) {
  const Scale scale = strip_scale(range);
  constexpr double middle = strip_height / 2;
  return fmt::format(
      "<svg class=\"strip s0\" xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" "
      "role=\"img\" aria-label=\"{} [{}, {}]\"><path class=\"level\" d=\"M{:.1f},0v{}\"/>"
      "<path class=\"line\" d=\"M{:.1f},{}H{:.1f}\"/>{}</svg>",
      strip_width, strip_height, plain(ratio.value), plain(ratio.ci95.lo), plain(ratio.ci95.hi),
      scale(1), strip_height, scale(ratio.ci95.lo), middle, scale(ratio.ci95.hi),
      marker(0, scale(ratio.value), middle));
}

Interval range_of(const std::vector<Ratio>& ratios) {
  std::vector<double> ends = {1};
  for (const Ratio& ratio : ratios) {
    ends.insert(ends.end(), {ratio.ci95.lo, ratio.ci95.hi});
  }
  return axis_range(ends, Unit::ratio, Spacing::logarithmic);
}

std::string draw_interval_axis(Interval range) {
  const Scale scale = strip_scale(range);
  std::string drawn;
  double free_from = 0;
  for (const Tick& tick : ticks(range, Unit::ratio, Spacing::logarithmic)) {
    const double x = scale(tick.value);
    const double half = letter_width * static_cast<double>(letters_of(tick.label)) / 2;
    constexpr double gap = 6;
    if (x - half >= free_from && x + half <= strip_width) {
      drawn += text("tick-x", x, strip_height - 5, tick.label);
      free_from = x + half + gap;
    }
  }
  return fmt::format(
      "<svg class=\"strip\" xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" "
      "aria-hidden=\"true\">{}</svg>",
      strip_width, strip_height, drawn);
}

}  // namespace tessera::bench::report
