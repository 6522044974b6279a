// SPDX-License-Identifier: BSD-3-Clause
//
// Sweep: the measurements of one operation that differ in one number, its size, how many rows it
// has or what its shape counts; and the charts of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/report/chart.hpp"
#include "bench/report/dataset.hpp"

namespace tessera::bench::report {

/// "ranks changed: 3": what was counted, and the number.
struct Counted {
  std::string_view name;  ///< of the shape that it was read from
  std::int64_t number = 0;
};
/// None where `shape` is no such text.
std::optional<Counted> counted_of(std::string_view shape);

/// What a chart shows of a measurement.
enum class Show {
  time,
  speed,             ///< bytes a second
  messages,          ///< operations a second
  percent_of_floor,  ///< of the speed of each floor, which the subject reaches
};

struct Sweep {
  struct Line {
    const Measurement* measurement;
    double x;
  };
  std::string bench;
  std::string op;
  std::string part;  ///< "rows of 16 B", or another shape; empty where all have one
  Axis x;
  std::vector<Line> lines;

  /// "rma put_strided, rows of 16 B"
  [[nodiscard]] std::string name() const;
};

/// All that a variant measured of `op`, in times.
std::vector<Sweep> sweeps_of(const Variant& variant, std::string_view bench, std::string_view op);
/// The same of every operation of `bench`, in the order in which they were measured.
std::vector<Sweep> sweeps_of(const Variant& variant, std::string_view bench);

/// Curves, or bars where the sweep has one line; empty where nothing is known of it. What is no
/// time of the same work, as a triad, stands on no chart.
Chart chart_of(const Sweep& sweep, Show show);

/// What `entry` shows: a value with its interval; none where it isn't known.
struct Shown {
  double value = 0;
  Interval ci95;
};
std::optional<Shown> shown_of(const Entry& entry, Show show);

/// "bandwidth"
const char* name_of(Show show);

/// The axis of `show`.
Axis axis_of(Show show);

/// Gives all series their styles and the names that people read, and fills in a description.
void finish(Chart& chart);

}  // namespace tessera::bench::report
