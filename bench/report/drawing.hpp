// SPDX-License-Identifier: BSD-3-Clause
//
// Drawing: charts and intervals as SVG and HTML text. Nothing here depends on what a benchmark is.
//
// All results are well-formed XML, with names escaped. Colours and lines are the classes of
// style_sheet().
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/report/chart.hpp"
#include "bench/support/statistics.hpp"

namespace tessera::bench::report {

/// Draws curves through the points of each series, with the intervals as bands around them, or bars
/// if the chart has categories. Leaves out points that a logarithmic axis can't show.
std::string draw(const Chart& chart);

/// The names of the series, each with a piece of its line.
std::string legend(const Chart& chart);

/// The numbers of the chart: a row for each x, with a value and an interval for each series.
std::string table_of(const Chart& chart);

/// Chart, legend and table under the chart's title; the table is folded away. Empty for an empty
/// chart.
std::string figure(const Chart& chart);

/// `drawn` under its title, with the folded table of its numbers. Titles are text, the others HTML;
/// an empty subtitle is omitted.
std::string figure(std::string_view title, std::string_view subtitle, std::string_view drawn,
                   std::string_view numbers);

/// A table of HTML cells; it scrolls if it is wider than the page.
std::string table(std::string_view head, std::string_view body);

/// A dot with its interval on a logarithmic line that covers `range`, one line of text high, with a
/// mark at 1.
std::string draw_interval(const Ratio& ratio, Interval range);
/// A range that covers `ratios` and 1.
Interval range_of(const std::vector<Ratio>& ratios);
/// The axis above such lines.
std::string draw_interval_axis(Interval range);

/// The page's style sheet: light, or dark if the reader's system is.
std::string style_sheet();

}  // namespace tessera::bench::report
