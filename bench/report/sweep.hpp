// SPDX-License-Identifier: BSD-3-Clause
//
// Sweep: the measurements of one operation that differ in one number (its size, its number of rows,
// or the number in its shape), and their charts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/report/chart.hpp"
#include "bench/report/dataset.hpp"

namespace tessera::bench::report {

/// "ranks changed: 3": the counted thing, and the number.
struct Counted {
  std::string_view name;  ///< of the shape that it was read from
  std::int64_t number = 0;
};
/// Empty if `shape` has another format.
std::optional<Counted> counted_of(std::string_view shape);

/// What a chart shows of a measurement.
enum class Show {
  time,
  speed,                ///< bytes a second
  messages,             ///< operations a second
  percent_of_baseline,  ///< Tessera's speed in percent of each baseline's
};

struct Sweep {
  struct Line {
    const Measurement* measurement;
    double x;
  };
  std::string bench;
  std::string op;
  std::string part;  ///< "rows of 16 B", or another shape; empty if all have the same
  Axis x;
  std::vector<Line> lines;

  /// "rma put_strided, rows of 16 B"
  [[nodiscard]] std::string name() const;
};

/// All times of `op` that a variant measured.
std::vector<Sweep> sweeps_of(const Variant& variant, std::string_view bench, std::string_view op);
/// The same for every operation of `bench`, in the order in which they were measured.
std::vector<Sweep> sweeps_of(const Variant& variant, std::string_view bench);

/// Curves, or bars if the sweep has one line; empty if nothing is known of it. Leaves out times of
/// other work, such as a triad.
Chart chart_of(const Sweep& sweep, Show show);

/// The value and interval that the chart shows for `entry`; empty if unknown.
struct Shown {
  double value = 0;
  Interval ci95;
};
std::optional<Shown> shown_of(const Entry& entry, Show show);

/// "bandwidth"
const char* name_of(Show show);

/// The axis of `show`.
Axis axis_of(Show show);

/// Gives all series their styles and printed names, and fills in a description.
void finish(Chart& chart);

}  // namespace tessera::bench::report
