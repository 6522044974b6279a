// SPDX-License-Identifier: BSD-3-Clause
#include "bench/report/panels.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "bench/report/backends.hpp"
#include "bench/report/drawing.hpp"
#include "bench/report/families.hpp"
#include "bench/report/pattern_picture.hpp"
#include "bench/support/overlap.hpp"
#include "bench/support/paths.hpp"

namespace tessera::bench::report {
namespace {

constexpr double whole = 100;  // percent

/// The setting that a row refers to, if there are several.
std::string place_of(const Dataset& dataset, const Variant& variant) {
  return dataset.shown().size() > 1 ? " (" + variant.setting + ")" : "";
}

/// The figures that `of` makes for each shown variant.
template <class Of>
std::string figures(const Dataset& dataset, const Of& of) {
  std::string all;
  for (const Variant* const variant : dataset.shown()) {
    for (Chart& chart : of(*variant)) {
      chart.subtitle = dataset.shown().size() > 1 ? variant->setting : "";
      finish(chart);
      all += figure(chart);
    }
  }
  return all;
}

const Measurement* find(const Variant& variant, std::string_view bench, std::string_view op) {
  const auto found =
      std::find_if(variant.measurements.begin(), variant.measurements.end(),
                   [&](const Measurement& each) { return each.bench == bench && each.op == op; });
  return found == variant.measurements.end() ? nullptr : &*found;
}

const MatrixPattern* find_pattern(const Dataset& dataset, const std::string& name) {
  for (const RunFile& run : dataset.runs()) {
    const auto found =
        std::find_if(run.patterns.begin(), run.patterns.end(),
                     [&name](const MatrixPattern& each) { return each.name == name; });
    if (found != run.patterns.end()) {
      return &*found;
    }
  }
  return nullptr;
}

Series& series_of(Chart& chart, const std::string& name) {
  const auto found = std::find_if(chart.series.begin(), chart.series.end(),
                                  [&name](const Series& each) { return each.name == name; });
  return found != chart.series.end() ? *found : chart.series.emplace_back(Series{name, 0, {}});
}

/// A part of a time, in percent, computed from the times.
struct Part {
  double value;
  Interval ci95;
};

double clamped(double percent) {
  return std::clamp(percent, 0.0, whole);
}

/// The part of a transfer that a computation hides, (blocking + computing - overlapped) / blocking,
/// at most the computation's time. Its ends follow from the intervals of the three. Empty if
/// transfer or computation took longer alone than both together, because of other load.
std::optional<Part> hidden_part(const Entry& blocking, const Entry& computing,
                                const Entry& overlapped) {
  const Interval alone = blocking.ci95();
  if (blocking.median() <= 0 || alone.lo <= 0 ||
      !is_credible_overlap(blocking.median(), computing.median(), overlapped.median())) {
    return std::nullopt;
  }
  const double lost = computing.ci95().lo - overlapped.ci95().hi;
  const double won = computing.ci95().hi - overlapped.ci95().lo;
  const double lo = 1 + lost / (lost < 0 ? alone.lo : alone.hi);
  const double hi = 1 + won / (won > 0 ? alone.lo : alone.hi);
  const double value = hidden_fraction(blocking.median(), computing.median(), overlapped.median());
  const auto percent = [most = std::min(computing.ci95().hi / alone.lo, 1.0)](double part) {
    return whole * std::clamp(part, 0.0, most);
  };
  return Part{whole * value, {percent(lo), percent(hi)}};
}

struct HiddenPart {
  std::string name;
  Part part;
};

/// For each transfer that a measurement has with and without a computation.
std::vector<HiddenPart> hidden_parts(const Measurement& measurement) {
  std::vector<HiddenPart> found;
  const Entry* const computing = measurement.find("computation");
  for (const Entry& entry : measurement.entries) {
    const Entry* const overlapped = measurement.find(entry.backend + " overlapped");
    if (computing != nullptr && overlapped != nullptr) {
      if (const auto part = hidden_part(entry, *computing, *overlapped)) {
        found.push_back({entry.backend, *part});
      }
    }
  }
  return found;
}

Axis percent_axis(const char* title) {
  return {title, Unit::percent, Spacing::linear};
}

/// "computation 25 %" → 25
std::optional<double> step_of(std::string_view shape) {
  constexpr std::string_view before = "computation ";
  if (!shape.starts_with(before)) {
    return std::nullopt;
  }
  double percent = 0;
  const auto read =
      std::from_chars(shape.data() + before.size(), shape.data() + shape.size(), percent);
  return read.ec == std::errc{} ? std::optional(percent) : std::nullopt;
}

/// What the longest step hid for each size, and for each size what each step hid. Not the step that
/// hid most: the maximum of several numbers owes most to chance. Also not a shorter step for a
/// transfer whose longest step has no result: it would stand next to longer steps of others.
std::vector<Chart> step_charts(const Variant& variant) {
  Chart longest = blank_chart("Part of a get that the longest computation hides, by size",
                              {"Size", Unit::bytes, Spacing::logarithmic}, percent_axis("Hidden"));
  std::map<std::int64_t, Chart> by_size;
  std::map<std::int64_t, double> longest_step;
  for (const Measurement& each : variant.measurements) {
    const auto step = step_of(each.shape);
    if (each.op != "overlap_steps" || !step) {
      continue;
    }
    const auto size = static_cast<double>(each.size);
    longest_step[each.size] = std::max(longest_step[each.size], *step);
    Chart& chart =
        by_size
            .try_emplace(
                each.size,
                blank_chart(
                    fmt::format("Get of {} during a computation", label(size, Unit::bytes)),
                    {"Computation, in percent of the get's time", Unit::percent, Spacing::linear},
                    percent_axis("Hidden")))
            .first->second;
    for (const auto& [name, part] : hidden_parts(each)) {
      series_of(chart, name).points.push_back({*step, part.value, part.ci95});
    }
  }
  std::vector<Chart> charts = {longest};
  for (auto& [size, chart] : by_size) {
    for (const Series& series : chart.series) {
      Point last = *std::ranges::max_element(series.points, {}, &Point::x);
      if (last.x == longest_step[size]) {
        last.x = static_cast<double>(size);
        series_of(charts.front(), series.name).points.push_back(last);
      }
    }
    charts.push_back(std::move(chart));
  }
  return charts;
}

std::vector<Chart> long_computation_charts(const Variant& variant) {
  Chart chart = blank_chart("Get of 4 MiB during a computation that is long enough",
                            {"Target", Unit::count, {}}, percent_axis("Hidden"));
  for (const auto& [op, name] :
       {std::pair{"overlap_idle", "target idle"}, std::pair{"overlap_busy", "target computing"}}) {
    if (const Measurement* const found = find(variant, "net", op)) {
      const auto place = static_cast<double>(chart.categories.size());
      chart.categories.emplace_back(name);
      for (const auto& [transfer, part] : hidden_parts(*found)) {
        series_of(chart, transfer).points.push_back({place, part.value, part.ci95});
      }
    }
  }
  return {chart};
}

/// 1 − running / blocking for each transfer.
Chart left_chart(const Variant& variant, const char* op) {
  Chart chart = blank_chart(fmt::format("verbs {}: processor time left", op),
                            {"Size", Unit::bytes, Spacing::logarithmic}, percent_axis("Left"));
  for (const Measurement& each : variant.measurements) {
    for (const Entry& blocking : each.entries) {
      const Entry* const running = each.find(blocking.backend + " running");
      if (each.bench != "verbs" || each.op != op || running == nullptr || blocking.ci95().lo <= 0) {
        continue;
      }
      const auto left = [](double part, double of) { return clamped(whole * (1 - part / of)); };
      series_of(chart, blocking.backend)
          .points.push_back({static_cast<double>(each.size),
                             left(running->median(), blocking.median()),
                             {left(running->ci95().hi, blocking.ci95().lo),
                              left(running->ci95().lo, blocking.ci95().hi)}});
    }
  }
  return chart;
}

/// The number of ranks written to in a measurement of net.fence; older files have it only as bytes.
double ranks_changed(const Measurement& measurement) {
  constexpr double word = 8;
  const auto counted = counted_of(measurement.shape);
  return counted ? static_cast<double>(counted->number)
                 : static_cast<double>(measurement.size) / word;
}

/// How much faster `fence` is than one fence for each rank, in percent.
std::optional<Part> gain_of(const Measurement& measurement, std::string_view fence) {
  const Entry* const entry = measurement.find(fence);
  const auto ratio = entry == nullptr ? std::nullopt : entry->ratio_to("fence each");
  if (!ratio || ratio->value <= 0 || ratio->ci95.lo <= 0) {
    return std::nullopt;
  }
  const auto gain = [](double times) { return whole * (1 / times - 1); };
  return Part{gain(ratio->value), {gain(ratio->ci95.hi), gain(ratio->ci95.lo)}};
}

constexpr std::array fence_callers{std::pair{"fence_all", "called by one rank"},
                                   std::pair{"fence_all_by_all", "called by all ranks"}};

/// The gain by the number of ranks written to.
Chart fence_chart(const Variant& variant) {
  Chart chart =
      blank_chart("fence_all: gain over a fence for each rank",
                  {"Ranks written to", Unit::count, Spacing::linear}, percent_axis("Gain"));
  for (const auto& [op, name] : fence_callers) {
    for (const Measurement& each : variant.measurements) {
      if (const auto gain = each.op == op ? gain_of(each, "fence_all") : std::nullopt) {
        series_of(chart, name).points.push_back({ranks_changed(each), gain->value, gain->ci95});
      }
    }
  }
  return chart;
}

/// The gain by the limit of outstanding fences, for the largest number of ranks.
Chart window_chart(const Variant& variant) {
  Chart chart =
      blank_chart("fence_all: gain by outstanding fences",
                  {"Outstanding fences", Unit::count, Spacing::linear}, percent_axis("Gain"));
  for (const auto& [op, name] : fence_callers) {
    const Measurement* most = nullptr;
    for (const Measurement& each : variant.measurements) {
      if (each.op == op && (most == nullptr || ranks_changed(each) > ranks_changed(*most))) {
        most = &each;
      }
    }
    for (const int outstanding : {3, 5, 7}) {
      const std::string fence = fmt::format("fence_all of {}", outstanding);
      if (const auto gain = most == nullptr ? std::nullopt : gain_of(*most, fence)) {
        series_of(chart, name)
            .points.push_back({static_cast<double>(outstanding), gain->value, gain->ci95});
      }
    }
  }
  return chart;
}

std::vector<Chart> fence_charts(const Variant& variant) {
  std::vector<Chart> charts;
  for (Chart& chart : std::array{fence_chart(variant), window_chart(variant)}) {
    if (chart.places().size() > 1) {
      charts.push_back(std::move(chart));
    }
  }
  return charts;
}

/// Rank number `rank` over all launches that have it: the median of theirs, and an interval that
/// contains all of theirs. Empty if no launch has it.
std::optional<Point> point_of_rank(const Entry& entry, std::size_t rank) {
  std::vector<Ratio> launches;
  for (const Result* const launch : entry.launches) {
    if (rank < launch->by_rank.size()) {
      const double time = launch->by_rank[rank];
      const bool has_interval = rank < launch->by_rank_ci95.size();
      launches.push_back({time, has_interval ? launch->by_rank_ci95[rank] : Interval{time, time}});
    }
  }
  if (launches.empty()) {
    return std::nullopt;
  }
  const Ratio all = combined(launches);
  return Point{static_cast<double>(rank), all.value, all.ci95};
}

Chart rank_chart(const Measurement& measurement) {
  Chart chart =
      blank_chart(fmt::format("Communication of each rank in a product, {}", measurement.shape),
                  {"Rank", Unit::count, {}}, {"Time", Unit::time, Spacing::logarithmic});
  for (const Entry& entry : measurement.entries) {
    std::size_t rank = 0;
    while (const auto point = point_of_rank(entry, rank)) {
      if (rank == chart.categories.size()) {
        chart.categories.push_back(std::to_string(rank));
      }
      series_of(chart, entry.backend).points.push_back(*point);
      ++rank;
    }
  }
  return chart;
}

std::vector<Chart> rank_charts(const Variant& variant) {
  std::vector<Chart> charts;
  std::transform(variant.measurements.begin(), variant.measurements.end(),
                 std::back_inserter(charts), rank_chart);
  return charts;
}

std::string cell_of(const Variant& variant, const std::string& bench, const std::string& op) {
  constexpr std::int64_t word = 8;
  const auto found = std::find_if(
      variant.measurements.begin(), variant.measurements.end(), [&](const Measurement& each) {
        return each.bench == bench && each.op == op && each.size == word && each.shape.empty();
      });
  const Entry* const subject = found == variant.measurements.end() ? nullptr : found->subject();
  if (subject == nullptr) {
    return "";
  }
  return brief(subject->median()) + " " + brief(subject->ci95());
}

std::string small_row(const Dataset& dataset, const Variant& variant, const SmallRow& row) {
  std::string cells;
  bool has_any = false;
  for (const std::string& op : row.ops) {
    const std::string cell = cell_of(variant, row.bench, op);
    has_any = has_any || !cell.empty();
    cells += "<td>" + cell + "</td>";
  }
  return has_any ? fmt::format("<tr><th>{}</th>{}</tr>\n",
                               escape(row.name + place_of(dataset, variant)), cells)
                 : "";
}

/// The times of `bar` by ranks, one chart per family.
std::vector<Chart> charts_by_ranks(const Dataset& dataset, const std::string& bench,
                                   const Bar& bar) {
  std::vector<const Variant*> with_bar;
  for (const Variant* const variant : dataset.shown()) {
    if (find(*variant, bench, bar.op) != nullptr) {
      with_bar.push_back(variant);
    }
  }
  std::vector<Chart> charts;
  for (const auto& members : families_of(dataset, with_bar)) {
    Chart& chart = charts.emplace_back(
        blank_chart(fmt::format("{} by ranks, {}", bar.name,
                                ranks_per_node_of(*members.front()->launches.front())),
                    {"Ranks", Unit::count, Spacing::linear}, axis_of(Show::time)));
    chart.subtitle = other_settings(members);
    for (const Variant* const variant : members) {
      const auto ranks = static_cast<double>(variant->launches.front()->ranks);
      for (const Entry& entry : find(*variant, bench, bar.op)->entries) {
        if (kind_of(entry.backend) != Kind::yardstick) {
          series_of(chart, entry.backend).points.push_back({ranks, entry.median(), entry.ci95()});
        }
      }
    }
  }
  return charts;
}

/// A panel with the figures that `of` makes for each shown variant.
template <class Of>
Panel panel_of(std::string what, Of of) {
  return {std::move(what), [of](const Dataset& dataset) { return figures(dataset, of); }};
}

/// Whether any of its measurements has an entry whose name begins with `by`. Entries that used
/// shared memory between nodes don't match: their names say so.
bool has(const Variant& variant, const std::string& bench, const std::string& op,
         const std::string& by) {
  return std::ranges::any_of(variant.measurements, [&](const Measurement& each) {
    return each.bench == bench && each.op == op &&
           std::ranges::any_of(each.entries, [&](const Entry& entry) {
             return entry.backend.starts_with(by) && !is_named_in_memory(entry.backend);
           });
  });
}

bool is_among(const Variant& variant, Runs runs) {
  const bool is_one_node = variant.launches.front()->nodes == 1;
  return runs == Runs::any || (runs == Runs::on_one_node) == is_one_node;
}

}  // namespace

Panel curves_of(const std::string& bench, const std::string& op, Show show, Runs runs) {
  return panel_of(fmt::format("{} of {} {}", name_of(show), bench, op),
                  [=](const Variant& variant) {
                    std::vector<Chart> charts;
                    if (!is_among(variant, runs)) {
                      return charts;
                    }
                    for (const Sweep& sweep : sweeps_of(variant, bench, op)) {
                      charts.push_back(chart_of(sweep, show));
                    }
                    return charts;
                  });
}

Panel bars_of(const std::string& title, const std::string& bench, const std::vector<Bar>& bars) {
  return panel_of(title, [=](const Variant& variant) {
    Chart chart = blank_chart(title, {"", Unit::count, {}}, axis_of(Show::time));
    for (const Bar& bar : bars) {
      const Measurement* const found = find(variant, bench, bar.op);
      if (found == nullptr) {
        continue;
      }
      const auto place = static_cast<double>(chart.categories.size());
      chart.categories.push_back(bar.name);
      for (const Entry& entry : found->entries) {
        if (kind_of(entry.backend) != Kind::yardstick) {
          series_of(chart, entry.backend).points.push_back({place, entry.median(), entry.ci95()});
        }
      }
    }
    return std::vector{chart};
  });
}

// Larger numbers of processes than the paper's are only in the table of results: a million would
// hide them.
Panel growth_of_agents() {
  const std::string title = "Growth of an agent's process, by processes of the job";
  return panel_of(title, [=](const Variant& variant) {
    constexpr std::int64_t most_processes = 10'000;
    Chart chart = blank_chart(title, {"Processes", Unit::count, Spacing::linear},
                              {"MB", Unit::count, Spacing::linear});
    for (const Measurement& each : variant.measurements) {
      if (each.bench != "scale" || each.op != "agent_growth" || each.size > most_processes) {
        continue;
      }
      for (const Entry& entry : each.entries) {
        series_of(chart, entry.backend)
            .points.push_back({static_cast<double>(each.size), entry.median(), entry.ci95()});
      }
    }
    return std::vector{chart};
  });
}

Panel small_operations(const std::vector<std::string>& columns, const std::vector<SmallRow>& rows) {
  return {"latency of operations of 8 bytes", [=](const Dataset& dataset) -> std::string {
            std::string head = "<th class=\"text\">Memory of</th>";
            for (const std::string& column : columns) {
              head += fmt::format("<th>{} (µs)</th>", escape(column));
            }
            std::string body;
            for (const SmallRow& row : rows) {
              for (const Variant* const variant : dataset.shown()) {
                body += is_among(*variant, row.runs) ? small_row(dataset, *variant, row) : "";
              }
            }
            return body.empty()
                       ? ""
                       : fmt::format(
                             "<figure class=\"full\"><figcaption>8 bytes, median and 95 % "
                             "interval</figcaption><div class=\"wide\"><table><thead><tr>{}</tr>"
                             "</thead><tbody>{}</tbody></table></div></figure>\n",
                             head, body);
          }};
}

Panel hidden_by_steps() {
  return panel_of("the part of a get that growing computations hide, undisturbed by other load",
                  step_charts);
}

Panel hidden_at_most() {
  return panel_of("the part of a get that a long computation hides, undisturbed by other load",
                  long_computation_charts);
}

Panel left_by_transfers() {
  return panel_of("processor time that transfers over RDMA leave", [](const Variant& variant) {
    return std::vector{left_chart(variant, "overlap_put"), left_chart(variant, "overlap_get")};
  });
}

Panel gain_of_fence_all() {
  return panel_of("the gain of fence_all over a fence for each of several ranks", fence_charts);
}

Panel times_by_ranks(const std::string& what, const std::string& bench,
                     const std::vector<Bar>& bars) {
  return {what, [=](const Dataset& dataset) {
            std::string all;
            for (const Bar& bar : bars) {
              for (Chart& chart : charts_by_ranks(dataset, bench, bar)) {
                if (chart.places().size() > 1) {
                  finish(chart);
                  all += figure(chart);
                }
              }
            }
            return all;
          }};
}

Panel patterns_of(const std::vector<std::string>& names) {
  return {"where the matrices have entries", [=](const Dataset& dataset) {
            std::string all;
            for (const std::string& name : names) {
              if (const MatrixPattern* const pattern = find_pattern(dataset, name)) {
                all += figure(*pattern);
              }
            }
            return all;
          }};
}

Panel communication_by_rank() {
  return panel_of("communication of each rank", rank_charts);
}

Panel part_of_another(const std::string& what, const std::string& bench, const std::string& op,
                      Runs runs, const std::string& by) {
  return {what, [](const Dataset&) { return std::string(); },
          [=](const Dataset& dataset) {
            const auto shown = dataset.shown();
            return std::any_of(shown.begin(), shown.end(), [&](const Variant* variant) {
              return is_among(*variant, runs) && has(*variant, bench, op, by);
            });
          }};
}

}  // namespace tessera::bench::report
