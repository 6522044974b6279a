// SPDX-License-Identifier: BSD-3-Clause
#include "bench/report/sweep.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "bench/report/backends.hpp"

namespace tessera::bench::report {
namespace {

/// "64 x 16 B": the number of pieces and the bytes of each.
struct Pieces {
  std::int64_t count;
  std::int64_t bytes;
};

std::optional<Pieces> pieces_of(std::string_view shape) {
  constexpr std::string_view times = " x ";
  const auto* const end = shape.data() + shape.size();
  Pieces pieces = {0, 0};
  const auto count = std::from_chars(shape.data(), end, pieces.count);
  const auto left = static_cast<std::size_t>(end - count.ptr);
  if (count.ec != std::errc{} || !std::string_view(count.ptr, left).starts_with(times)) {
    return std::nullopt;
  }
  const auto bytes = std::from_chars(count.ptr + times.size(), end, pieces.bytes);
  const std::string_view rest(bytes.ptr, static_cast<std::size_t>(end - bytes.ptr));
  return bytes.ec == std::errc{} && rest == " B" ? std::optional(pieces) : std::nullopt;
}

using Measurements = std::vector<const Measurement*>;

/// The number of different values of `key`.
template <class Key>
std::size_t count_of(const Measurements& measurements, const Key& key) {
  std::set<decltype(key(**measurements.begin()))> seen;
  for (const Measurement* each : measurements) {
    seen.insert(key(*each));
  }
  return seen.size();
}

/// The sweep of `sweeps` with this part; creates it if it is new.
Sweep& part_of(std::vector<Sweep>& sweeps, const Measurement& like, const std::string& part,
               const Axis& axis) {
  const auto found = std::find_if(sweeps.begin(), sweeps.end(),
                                  [&part](const Sweep& each) { return each.part == part; });
  return found != sweeps.end() ? *found
                               : sweeps.emplace_back(Sweep{like.bench, like.op, part, axis, {}});
}

/// Linear if a logarithmic axis can't show the values.
Axis with_spacing(Axis axis, const std::vector<Sweep::Line>& lines) {
  constexpr double narrow = 3;
  const auto [least, most] =
      std::minmax_element(lines.begin(), lines.end(),
                          [](const Sweep::Line& a, const Sweep::Line& b) { return a.x < b.x; });
  const bool is_narrow = least->x <= 0 || most->x < narrow * least->x;
  axis.spacing = is_narrow ? Spacing::linear : Spacing::logarithmic;
  return axis;
}

std::int64_t bytes_of_pieces(const Measurement& measurement) {
  const auto pieces = pieces_of(measurement.shape);
  return pieces ? pieces->bytes : 0;
}

std::string name_of_counted(const Measurement& measurement) {
  const auto counted = counted_of(measurement.shape);
  return std::string(counted ? counted->name : "");
}

std::string capitalised(std::string name) {
  constexpr char to_upper = 'a' - 'A';
  if (!name.empty() && name.front() >= 'a' && name.front() <= 'z') {
    name.front() = static_cast<char>(name.front() - to_upper);
  }
  return name;
}

/// How the measurements of an operation differ, and what distinguishes their sweeps.
enum class Differ { in_bytes_of_pieces, in_rows, in_a_count, in_size, in_size_and_shape };

Differ differ(const Measurements& measurements) {
  const auto all = [&measurements](const auto& has) {
    return std::all_of(measurements.begin(), measurements.end(),
                       [&has](const Measurement* each) { return has(*each); });
  };
  if (all([](const Measurement& each) { return pieces_of(each.shape).has_value(); })) {
    return count_of(measurements, bytes_of_pieces) == measurements.size()
               ? Differ::in_bytes_of_pieces
               : Differ::in_rows;
  }
  if (all([](const Measurement& each) { return counted_of(each.shape).has_value(); }) &&
      count_of(measurements, name_of_counted) == 1) {
    return Differ::in_a_count;
  }
  const auto sizes = count_of(measurements, [](const Measurement& each) { return each.size; });
  return sizes == measurements.size() ? Differ::in_size : Differ::in_size_and_shape;
}

void add_line(std::vector<Sweep>& sweeps, const Measurement& measurement, Differ how) {
  const auto add = [&](const std::string& part, const Axis& axis, std::int64_t x) {
    part_of(sweeps, measurement, part, axis)
        .lines.push_back({&measurement, static_cast<double>(x)});
  };
  switch (how) {
    case Differ::in_bytes_of_pieces:
      return add("", {"Bytes a piece", Unit::bytes, {}}, bytes_of_pieces(measurement));
    case Differ::in_rows: {
      const Pieces pieces = *pieces_of(measurement.shape);
      return add(fmt::format("rows of {} B", pieces.bytes), {"Rows", Unit::powers, {}},
                 pieces.count);
    }
    case Differ::in_a_count:
      return add("", {capitalised(name_of_counted(measurement)), Unit::count, {}},
                 counted_of(measurement.shape)->number);
    case Differ::in_size:
      return add("", {"Size", Unit::bytes, {}}, measurement.size);
    case Differ::in_size_and_shape:
      return add(measurement.shape, {"Size", Unit::bytes, {}}, measurement.size);
  }
}

std::vector<Sweep> sweeps_of(const Measurements& measurements) {
  const Differ how = differ(measurements);
  std::vector<Sweep> sweeps;
  for (const Measurement* each : measurements) {
    add_line(sweeps, *each, how);
  }
  for (Sweep& sweep : sweeps) {
    sweep.x = with_spacing(sweep.x, sweep.lines);
  }
  return sweeps;
}

Interval divided(double numerator, Interval by) {
  return {numerator / by.hi, numerator / by.lo};
}

/// A rate at the median, with an interval that follows from the time's.
std::optional<Shown> rate_of(const Entry& entry, double rate) {
  const double time = entry.median();
  const Interval ci95 = entry.ci95();
  if (rate <= 0 || time <= 0 || ci95.lo <= 0) {
    return std::nullopt;
  }
  return Shown{rate, divided(rate * time, ci95)};
}

std::string describe_series(const Chart& chart, const Series& series) {
  const auto say = [&chart](const Point& point) {
    const auto place = static_cast<std::size_t>(std::max(point.x, 0.0));
    return fmt::format(
        "{} at {}", label(point.y, chart.y.unit),
        place < chart.categories.size() ? chart.categories[place] : label(point.x, chart.x.unit));
  };
  const Point& first = series.points.front();
  const Point& last = series.points.back();
  return series.points.size() == 1
             ? fmt::format("{}: {}.", series.name, say(first))
             : fmt::format("{}: from {} to {}.", series.name, say(first), say(last));
}

class Builder {
 public:
  Builder(Chart& chart, const Sweep& sweep) : chart_(chart), sweep_(sweep) {}

  void add(const std::string& name, const Sweep::Line& line, const Shown& shown) {
    auto found = std::find_if(chart_.series.begin(), chart_.series.end(),
                              [&name](const Series& each) { return each.name == name; });
    if (found == chart_.series.end()) {
      found = chart_.series.insert(found, {name, 0, {}});
    }
    const double x = sweep_.lines.size() > 1 ? line.x : 0;
    found->points.push_back({x, shown.value, shown.ci95});
  }

 private:
  Chart& chart_;
  const Sweep& sweep_;
};

void add_candidates(Builder& builder, const Sweep::Line& line, Show show) {
  for (const Entry& entry : line.measurement->entries) {
    const auto shown = shown_of(entry, show);
    if (shown && kind_of(entry.backend) != Kind::yardstick) {
      builder.add(entry.backend, line, *shown);
    }
  }
}

/// Bytes that `subject` moves in a repetition / bytes that `floor` moves: several ranks against
/// one.
double work_ratio(const Entry& subject, const Entry& floor) {
  const auto bytes = [](const Entry& entry) {
    return entry.first().bytes_per_s * entry.first().median;
  };
  return bytes(subject) > 0 && bytes(floor) > 0 ? bytes(subject) / bytes(floor) : 1;
}

void add_percents(Builder& builder, const Sweep::Line& line) {
  constexpr double whole = 100;
  const Entry* const subject = line.measurement->subject();
  if (subject == nullptr || kind_of(subject->backend) == Kind::floor ||
      kind_of(subject->backend) == Kind::yardstick) {
    return;
  }
  for (const Entry& floor : line.measurement->entries) {
    if (&floor == subject || kind_of(floor.backend) != Kind::floor) {
      continue;
    }
    const auto ratio = subject->ratio_to(floor.backend);
    if (ratio && ratio->value > 0 && ratio->ci95.lo > 0) {
      const double percent = whole * work_ratio(*subject, floor);
      builder.add(floor.backend, line, {percent / ratio->value, divided(percent, ratio->ci95)});
    }
  }
}

}  // namespace

std::string Sweep::name() const {
  return fmt::format("{} {}{}{}", bench, op, part.empty() ? "" : ", ", part);
}

std::optional<Counted> counted_of(std::string_view shape) {
  constexpr std::string_view between = ": ";
  const std::size_t colon = shape.find(between);
  if (colon == 0 || colon == std::string_view::npos) {
    return std::nullopt;
  }
  Counted counted{shape.substr(0, colon)};
  const char* const end = shape.data() + shape.size();
  const auto read = std::from_chars(shape.data() + colon + between.size(), end, counted.number);
  const bool is_number = read.ec == std::errc{} && read.ptr == end && counted.number >= 0;
  return is_number ? std::optional(counted) : std::nullopt;
}

const char* name_of(Show show) {
  switch (show) {
    case Show::time:
      return "time";
    case Show::speed:
      return "bandwidth";
    case Show::messages:
      return "message rate";
    case Show::percent_of_baseline:
      return "percent of each baseline's speed";
  }
  return "";
}

std::optional<Shown> shown_of(const Entry& entry, Show show) {
  constexpr double million = 1e-6;
  switch (show) {
    case Show::time:
      return Shown{entry.median(), entry.ci95()};
    case Show::speed:
      return rate_of(entry, entry.bytes_per_s() * million);
    case Show::messages:
      return rate_of(entry, entry.operations_per_s() * million);
    case Show::percent_of_baseline:
      return std::nullopt;
  }
  return std::nullopt;
}

Axis axis_of(Show show) {
  switch (show) {
    case Show::time:
      return {"Time", Unit::time, Spacing::logarithmic};
    case Show::speed:
      return {"Bandwidth", Unit::speed, Spacing::logarithmic};
    case Show::messages:
      return {"Messages a second", Unit::messages, Spacing::logarithmic};
    case Show::percent_of_baseline:
      return {"Speed, in percent of the baseline's", Unit::percent, Spacing::linear};
  }
  return {};
}

std::vector<Sweep> sweeps_of(const Variant& variant, std::string_view bench, std::string_view op) {
  Measurements found;
  for (const Measurement& each : variant.measurements) {
    if (each.bench == bench && each.op == op && each.unit == "us") {
      found.push_back(&each);
    }
  }
  return found.empty() ? std::vector<Sweep>{} : sweeps_of(found);
}

std::vector<Sweep> sweeps_of(const Variant& variant, std::string_view bench) {
  std::vector<Sweep> sweeps;
  std::set<std::string> seen;
  for (const Measurement& each : variant.measurements) {
    if (each.bench == bench && seen.insert(each.op).second) {
      auto more = sweeps_of(variant, bench, each.op);
      std::move(more.begin(), more.end(), std::back_inserter(sweeps));
    }
  }
  return sweeps;
}

namespace {

/// Bars need an axis from 0, on which the shortest bar is still visible.
void choose_spacing(Chart& chart) {
  constexpr double widest = 20;
  double least = std::numeric_limits<double>::max();
  double most = 0;
  for (const Series& series : chart.series) {
    for (const Point& point : series.points) {
      least = std::min(least, point.y);
      most = std::max(most, point.y);
    }
  }
  if (!chart.categories.empty() && most <= widest * least) {
    chart.y.spacing = Spacing::linear;
  }
}

}  // namespace

void finish(Chart& chart) {
  choose_spacing(chart);
  std::vector<std::string> names;
  for (const Series& each : chart.series) {
    names.push_back(each.name);
  }
  const std::vector<int> chosen = styles_of(names);
  chart.description.clear();
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    Series& series = chart.series[i];
    series.style = chosen[i];
    series.name = display_name(series.name);
    chart.description += i == 0 ? "" : " ";
    chart.description += describe_series(chart, series);
  }
}

Chart chart_of(const Sweep& sweep, Show show) {
  Chart chart =
      blank_chart(fmt::format("{}: {}", sweep.name(), name_of(show)), sweep.x, axis_of(show));
  Builder builder(chart, sweep);
  for (const Sweep::Line& line : sweep.lines) {
    if (show == Show::percent_of_baseline) {
      add_percents(builder, line);
    } else {
      add_candidates(builder, line, show);
    }
  }
  if (chart.is_empty()) {
    return chart;
  }
  if (sweep.lines.size() == 1) {
    chart.categories = {label(sweep.lines[0].x, sweep.x.unit)};
  }
  if (show == Show::percent_of_baseline) {
    chart.level = 100;
    constexpr double too_high = 400;
    const auto heights = chart.heights();
    if (*std::max_element(heights.begin(), heights.end()) > too_high) {
      chart.y.spacing = Spacing::logarithmic;
    }
  }
  finish(chart);
  return chart;
}

}  // namespace tessera::bench::report
