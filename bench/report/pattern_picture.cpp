// SPDX-License-Identifier: BSD-3-Clause
#include "bench/report/pattern_picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "bench/report/drawing.hpp"
#include "bench/report/text.hpp"

namespace tessera::bench::report {
namespace {

constexpr std::size_t shade_count = 5;  // style_sheet() has the same number

/// Cells that are drawn with the same shade.
struct Shade {
  std::int64_t min = 0;  ///< entries of a cell
  std::int64_t max = 0;
  std::int64_t cells = 0;
  std::int64_t entries = 0;
  std::string path;

  void add(std::int64_t count) {
    min = cells == 0 ? count : std::min(min, count);
    max = std::max(max, count);
    ++cells;
    entries += count;
  }
};
using Shades = std::array<Shade, shade_count>;

/// The range of the counts of non-empty cells.
struct Range {
  std::int64_t min = 0;
  std::int64_t max = 0;
};

Range range_of(const MatrixPattern& pattern) {
  Range range;
  for (const auto& line : pattern.cells) {
    for (const std::int64_t count : line) {
      if (count > 0) {
        range.min = range.min == 0 ? count : std::min(range.min, count);
        range.max = std::max(range.max, count);
      }
    }
  }
  return range;
}

/// Equal steps of the logarithm, so that both a band of the matrix and scattered entries next to it
/// are visible.
std::size_t shade_of(std::int64_t count, const Range& range) {
  if (range.min == range.max) {
    return shade_count - 1;
  }
  const auto steps_from_least = [&range](std::int64_t to) {
    return std::log(static_cast<double>(to) / static_cast<double>(range.min));
  };
  const double part = steps_from_least(count) / steps_from_least(range.max);
  return std::min(static_cast<std::size_t>(part * shade_count), shade_count - 1);
}

/// One row of the picture: neighbours of the same shade become one rectangle.
void add_line(Shades& shades, const std::vector<std::int64_t>& line, std::size_t y,
              const Range& range) {
  for (std::size_t x = 0; x < line.size();) {
    if (line[x] == 0) {
      ++x;
      continue;
    }
    const std::size_t number = shade_of(line[x], range);
    const std::size_t from = x;
    for (; x < line.size() && line[x] > 0 && shade_of(line[x], range) == number; ++x) {
      shades[number].add(line[x]);
    }
    shades[number].path += fmt::format("M{},{}h{}v1H{}z", from, y, x - from, from);
  }
}

Shades shades_of(const MatrixPattern& pattern) {
  const Range range = range_of(pattern);
  Shades shades;
  for (std::size_t y = 0; y < pattern.cells.size(); ++y) {
    add_line(shades, pattern.cells[y], y, range);
  }
  return shades;
}

std::string size_of(const MatrixPattern& pattern) {
  return fmt::format("{} × {}, {} entries, in {} × {} cells", pattern.rows, pattern.columns,
                     pattern.entries, pattern.cells.size(), pattern.cells.front().size());
}

std::string draw(const MatrixPattern& pattern, const Shades& shades, const std::string& title) {
  std::string drawn = fmt::format(
      "<svg class=\"cells s0\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" "
      "shape-rendering=\"crispEdges\" role=\"img\" aria-label=\"{}\"><title>{}</title>"
      "<desc>{}</desc>",
      pattern.cells.front().size(), pattern.cells.size(), title, title, size_of(pattern));
  for (std::size_t number = 0; number < shade_count; ++number) {
    if (shades[number].cells > 0) {
      drawn += fmt::format("<path class=\"cell shade{}\" d=\"{}\"/>", number, shades[number].path);
    }
  }
  return drawn + "</svg>";
}

std::string counts_of(const Shade& shade) {
  return shade.min == shade.max ? fmt::format("{}", shade.min)
                                : fmt::format("{}–{}", shade.min, shade.max);
}

std::string legend(const Shades& shades) {
  std::string drawn;
  for (std::size_t number = 0; number < shade_count; ++number) {
    if (shades[number].cells > 0) {
      drawn += fmt::format(
          "<li><svg class=\"s0\" xmlns=\"http://www.w3.org/2000/svg\" width=\"14\" height=\"12\" "
          "aria-hidden=\"true\"><rect class=\"cell shade{}\" width=\"14\" height=\"12\"/></svg>{}"
          "</li>",
          number, counts_of(shades[number]));
    }
  }
  return "<ul class=\"legend\"><li>Entries of a cell:</li>" + drawn + "</ul>";
}

std::string table_of(const Shades& shades) {
  std::string lines;
  for (const Shade& shade : shades) {
    if (shade.cells > 0) {
      lines += fmt::format("<tr><th>{}</th><td>{}</td><td>{}</td></tr>\n", counts_of(shade),
                           shade.cells, shade.entries);
    }
  }
  return table("<th>Entries of a cell</th><th>Cells</th><th>Entries</th>", lines);
}

}  // namespace

std::string figure(const MatrixPattern& pattern) {
  const std::string title = "Entries of " + pattern.name;
  const Shades shades = shades_of(pattern);
  return figure(title, size_of(pattern), legend(shades) + draw(pattern, shades, escape(title)),
                table_of(shades));
}

}  // namespace tessera::bench::report
