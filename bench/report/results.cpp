// SPDX-License-Identifier: BSD-3-Clause
//
// The sections that show all results of the files.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/report/backends.hpp"
#include "bench/report/drawing.hpp"
#include "bench/report/sections.hpp"
#include "bench/report/sweep.hpp"

namespace tessera::bench::report {
namespace {

std::vector<std::string> benches_of(const Variant& variant) {
  std::vector<std::string> found;
  for (const Measurement& each : variant.measurements) {
    if (std::find(found.begin(), found.end(), each.bench) == found.end()) {
      found.push_back(each.bench);
    }
  }
  return found;
}

std::string sweep_figures(const Sweep& sweep) {
  std::string figures;
  for (const Show show : {Show::time, Show::speed, Show::messages, Show::percent_of_baseline}) {
    figures += figure(chart_of(sweep, show));
  }
  return figures;
}

std::string curves_of_bench(const Variant& variant, const std::string& bench) {
  std::string text;
  for (const Sweep& sweep : sweeps_of(variant, bench)) {
    if (sweep.lines.size() > 1) {
      text += fmt::format("<h4>{}</h4>\n<div class=\"figures\">{}</div>\n", escape(sweep.name()),
                          sweep_figures(sweep));
    }
  }
  return text;
}

/// The subject compared with one other candidate, or alone.
struct Comparison {
  const Measurement* measurement;
  const Entry* subject;
  const Entry* other;  ///< null if it stands alone
  std::optional<Ratio> ratio;
};

std::vector<Comparison> comparisons_of(const Measurement& measurement) {
  const Entry* const told = measurement.subject();
  const Entry* const subject = told == nullptr ? &measurement.entries.front() : told;
  std::vector<Comparison> found;
  for (const Entry& entry : measurement.entries) {
    if (&entry != subject && kind_of(entry.backend) != Kind::yardstick) {
      found.push_back({&measurement, subject, &entry, subject->ratio_to(entry.backend)});
    }
  }
  if (found.empty()) {
    found.push_back({&measurement, subject, nullptr, std::nullopt});
  }
  return found;
}

/// A number and its interval; bytes in readable units.
std::string value_in(const std::string& unit, const Entry& entry) {
  const Interval ci95 = entry.ci95();
  if (unit == "bytes") {
    const auto bytes = [](double value) { return label(value, Unit::bytes); };
    return fmt::format("<td>{}</td><td class=\"ci\">[{}, {}]</td>", bytes(entry.median()),
                       bytes(ci95.lo), bytes(ci95.hi));
  }
  return fmt::format("<td>{}</td><td class=\"ci\">{}</td>", brief(entry.median()), brief(ci95));
}

/// A time in readable units; its tooltip shows the interval.
std::string time_of(const Entry& entry) {
  return fmt::format("<td title=\"{} µs\">{}</td>", brief(entry.ci95()),
                     label(entry.median(), Unit::time));
}

/// The operation and Tessera's time stand in the first row of each measurement.
std::string comparison_line(const Comparison& comparison, bool is_first, Interval range) {
  std::string line = is_first ? fmt::format("<tr><th>{}</th><td class=\"text\">{}</td>{}",
                                            escape(comparison.measurement->name()),
                                            escape(display_name(comparison.subject->backend)),
                                            time_of(*comparison.subject))
                              : "<tr><th></th><td></td><td></td>";
  if (comparison.other == nullptr) {
    return line + "<td></td><td></td><td></td><td></td><td></td></tr>\n";
  }
  line += fmt::format("<td class=\"text\">{}</td>{}",
                      escape(display_name(comparison.other->backend)), time_of(*comparison.other));
  if (!comparison.ratio) {
    return line + "<td></td><td></td><td></td></tr>\n";
  }
  const Ratio& ratio = *comparison.ratio;
  return line + fmt::format("<td>{}</td><td class=\"ci\">{}</td><td>{}</td></tr>\n",
                            brief(ratio.value), brief(ratio.ci95), draw_interval(ratio, range));
}

std::string comparison_table(const std::vector<Comparison>& comparisons) {
  std::vector<Ratio> ratios;
  for (const Comparison& each : comparisons) {
    if (each.ratio) {
      ratios.push_back(*each.ratio);
    }
  }
  const Interval range = range_of(ratios);
  std::string body;
  const Measurement* last = nullptr;
  for (const Comparison& each : comparisons) {
    body += comparison_line(each, each.measurement != last, range);
    last = each.measurement;
  }
  return table(
      "<th class=\"text\">Operation</th><th class=\"text\">By</th><th>Time</th>"
      "<th class=\"text\">Compared with</th><th>Time</th><th>Ratio</th><th>95 %</th><th>" +
          draw_interval_axis(range) + "</th>",
      body);
}

std::string single_times(const Variant& variant) {
  std::vector<Comparison> comparisons;
  for (const std::string& bench : benches_of(variant)) {
    for (const Sweep& sweep : sweeps_of(variant, bench)) {
      if (sweep.lines.size() == 1) {
        const auto more = comparisons_of(*sweep.lines[0].measurement);
        comparisons.insert(comparisons.end(), more.begin(), more.end());
      }
    }
  }
  return comparisons.empty() ? "" : comparison_table(comparisons);
}

std::string other_units(const Variant& variant) {
  std::string body;
  for (const Measurement& each : variant.measurements) {
    for (const Entry& entry : each.entries) {
      if (each.unit != "us") {
        body += fmt::format(
            "<tr><th>{}</th><td class=\"text\">{}</td>{}<td class=\"text\">{}</td></tr>\n",
            escape(each.name()), escape(display_name(entry.backend)), value_in(each.unit, entry),
            each.unit == "bytes" ? "" : escape(each.unit));
      }
    }
  }
  return body.empty() ? ""
                      : fmt::format(
                            "<div class=\"wide\"><table><thead><tr><th class=\"text\">What"
                            "</th><th class=\"text\">By</th><th>Value</th>"
                            "<th>95 %</th><th class=\"text\">Unit</th></tr></thead><tbody>"
                            "{}</tbody></table></div>\n",
                            body);
}

std::string of_each(const Dataset& dataset, std::string (*content)(const Variant&)) {
  std::string text;
  for (const Variant* const variant : dataset.shown()) {
    const std::string found = content(*variant);
    if (!found.empty()) {
      text += fmt::format("<h3>{}, version {}</h3>\n{}", escape(variant->setting),
                          escape(variant->version), found);
    }
  }
  return text.empty() ? "<p>These files have no such results.</p>\n" : text;
}

}  // namespace

std::string operations(const Dataset& dataset) {
  return "<p>Medians, with their 95 % intervals as bands; with several launches, the median of "
         "their medians, and an interval that contains all of theirs. Percent of a baseline: 100 × "
         "the baseline's time / Tessera's, in the same rounds.</p>\n" +
         of_each(dataset, [](const Variant& variant) {
           std::string text;
           for (const std::string& bench : benches_of(variant)) {
             text += curves_of_bench(variant, bench);
           }
           return text;
         });
}

std::string single_results(const Dataset& dataset) {
  return "<p>Ratio: the first candidate's time / the second's, in the same rounds; below 1, the "
         "first is faster.</p>\n" +
         of_each(dataset, [](const Variant& variant) {
           return single_times(variant) + other_units(variant);
         });
}

}  // namespace tessera::bench::report
