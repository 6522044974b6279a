// SPDX-License-Identifier: BSD-3-Clause
//
// Drawing: charts and intervals as text in SVG and HTML. Nothing here knows what a benchmark is.
//
// All that is returned is well-formed XML, with names escaped; colours and lines are the classes
// of style_sheet().
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/report/chart.hpp"
#include "bench/support/statistics.hpp"

namespace tessera::bench::report {

/// Curves through the points of each series, with the intervals as a band around them, or bars
/// where there are categories. Points that a logarithmic axis can't show are left out.
std::string draw(const Chart& chart);

/// The names of the series beside a piece of their lines.
std::string legend(const Chart& chart);

/// The numbers of the chart: a line each x, a value and an interval each series.
std::string table_of(const Chart& chart);

/// All of that under the chart's title; the table folded away. Empty for an empty chart.
std::string figure(const Chart& chart);

/// What is drawn, under its title, with the table of its numbers folded away. Titles are text, the
/// others HTML; without a subtitle there is none.
std::string figure(std::string_view title, std::string_view subtitle, std::string_view drawn,
                   std::string_view numbers);

/// A table of HTML cells, which scrolls where it is wider than the page.
std::string table(std::string_view head, std::string_view body);

/// A dot with its interval on a logarithmic line that has `range`, as high as a line of text, and
/// a mark at 1.
std::string draw_interval(const Ratio& ratio, Interval range);
/// A range that has room for `ratios` and 1.
Interval range_of(const std::vector<Ratio>& ratios);
/// The axis above such lines.
std::string draw_interval_axis(Interval range);

/// The page's style sheet: light, and dark where the reader's system is.
std::string style_sheet();

}  // namespace tessera::bench::report
