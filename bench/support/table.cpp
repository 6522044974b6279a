// SPDX-License-Identifier: BSD-3-Clause
#include "bench/support/table.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ostream.h>

namespace tessera::bench {
namespace {

// OSU's column widths.
constexpr int size_width = 10;
constexpr int value_width = 20;
constexpr int ratio_width = 10;

const char* unit_name(Quantity quantity) {
  switch (quantity) {
    case Quantity::latency:
      return "us";
    case Quantity::bandwidth:
      return "MB/s";
    case Quantity::rate:
      return "M/s";
  }
  return "";
}

const char* column_title(Quantity quantity) {
  switch (quantity) {
    case Quantity::latency:
      return "Latency (us)";
    case Quantity::bandwidth:
      return "Bandwidth (MB/s)";
    case Quantity::rate:
      return "Rate (M/s)";
  }
  return "";
}

/// The width of a candidate's column: OSU's, or as much as its title needs.
std::string comparison_title(const Measured& measured, Quantity quantity) {
  return fmt::format("{} ({})", measured.name, unit_name(quantity));
}
int comparison_width(const Measured& measured, Quantity quantity) {
  return std::max(value_width, static_cast<int>(comparison_title(measured, quantity).size()) + 2);
}

std::string fixed(double value) {
  return fmt::format("{:.4f}", value);
}

std::vector<std::string> names_of(const std::vector<Measured>& measured) {
  std::vector<std::string> names;
  for (const Measured& one : measured) {
    names.push_back(one.name);
  }
  return names;
}

}  // namespace

std::string column(const std::string& text, int width) {
  return fmt::format(" {:>{}}", text, width - 1);
}

namespace {

std::string sync_of(const Heading& heading, const Launch& launch) {
  const auto asked = launch.options.find(sync_option);
  if (!heading.sync.empty()) {
    return heading.sync;
  }
  return asked == launch.options.end() ? "default" : asked->second;
}

}  // namespace

void print_heading(std::ostream& out, const Heading& heading, const RunInfo& run,
                   const std::string& backend) {
  const Launch& launch = run.launch;
  fmt::print(out, "# Tessera {} v{}\n", heading.title, run.suite_version);
  fmt::print(out,
             "# backend: {}, sync: {}, ranks: {}, nodes: {}, cores: {}, binding: {}, "
             "oversubscribed: {}\n",
             backend, sync_of(heading, launch), launch.ranks, launch.nodes, run.host.cores,
             launch.binding, launch.oversubscribed ? "yes" : "no");
  if (const std::string chosen = protocol_settings(run); !chosen.empty()) {
    fmt::print(out, "# protocols: {}\n", chosen);
  }
  for (const std::string& objection : objections(run)) {
    fmt::print(out, "# not a headline: {}\n", objection);
  }
}

Table::Table(std::ostream& out, Heading heading, const RunInfo& run)
    : out_(out), heading_(std::move(heading)), run_(run) {}

double Table::in_unit(const Measured& measured, double time_ns) const {
  if (heading_.quantity == Quantity::latency) {
    return time_ns * 1e-3;
  }
  const double amount = heading_.quantity == Quantity::rate ? measured.operations.value_or(1)
                                                            : static_cast<double>(measured.bytes);
  return time_ns > 0 ? amount * 1e3 / time_ns : 0;
}

std::size_t Table::subject_in(const std::vector<Measured>& measured) {
  if (subject_name_.empty()) {
    subject_name_ = measured.at(heading_.subject).name;
    return heading_.subject;
  }
  const auto found = std::find_if(measured.begin(), measured.end(), [this](const Measured& one) {
    return one.name == subject_name_;
  });
  if (found == measured.end()) {
    throw std::logic_error(
        fmt::format("table '{}': a line without '{}'", heading_.title, subject_name_));
  }
  return static_cast<std::size_t>(found - measured.begin());
}

void Table::print_columns(const std::vector<Measured>& measured, std::size_t subject) {
  fmt::print(out_, "{:<{}}{}", "# " + heading_.size_name, size_width,
             column(column_title(heading_.quantity), value_width));
  if (heading_.full) {
    // A rate falls as times grow, so its minimum is at the largest time.
    const bool is_time = heading_.quantity == Quantity::latency;
    for (const char* name : {"Avg", "Min", "P50", is_time ? "P99" : "P1", "Max", "Iterations"}) {
      out_ << column(name, value_width);
    }
  }
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if (i == subject) {
      continue;
    }
    out_ << column(comparison_title(measured[i], heading_.quantity),
                   comparison_width(measured[i], heading_.quantity))
         << column("ratio", ratio_width);
    if (heading_.full) {
      out_ << column("ratio CI95", value_width);
    }
  }
  out_ << '\n';
}

void Table::print_full_columns(const Measured& subject) {
  const Stats& stats = subject.stats_ns;
  const bool is_time = heading_.quantity == Quantity::latency;
  for (const double time_ns : {stats.mean, is_time ? stats.min : stats.max, stats.median, stats.p99,
                               is_time ? stats.max : stats.min}) {
    out_ << column(fixed(in_unit(subject, time_ns)), value_width);
  }
  out_ << column(fmt::format("{}", stats.samples_n * subject.repetitions), value_width);
}

void Table::print_comparison(const Measured& subject, const Measured& other) {
  const Ratio ratio = ratio_of_medians(subject.samples_ns, other.samples_ns, heading_.bootstrap);
  out_ << column(fixed(in_unit(other, other.stats_ns.median)),
                 comparison_width(other, heading_.quantity))
       << column(ratio_text(ratio.value), ratio_width);
  if (heading_.full) {
    out_ << column(ratio_text(ratio.ci95), value_width);
  }
}

void Table::add(std::int64_t size, const std::vector<Measured>& measured) {
  add(fmt::format("{}", size), measured);
}

void Table::add(const std::string& line, const std::vector<Measured>& measured) {
  const std::size_t own = subject_in(measured);
  const Measured& subject = measured[own];
  if (names_of(measured) != names_) {
    if (names_.empty()) {
      print_heading(out_, heading_, run_, subject.name);
    }
    if (names_.empty() && subject.stats_ns.samples_n < samples_for_an_interval) {
      fmt::print(out_,
                 "# fewer than {} samples: intervals show the range of all samples, with a "
                 "confidence below 95 %\n",
                 samples_for_an_interval);
    }
    names_ = names_of(measured);
    print_columns(measured, own);
  }
  fmt::print(out_, "{:<{}}{}", line, size_width,
             column(fixed(in_unit(subject, subject.stats_ns.median)), value_width));
  if (heading_.full) {
    print_full_columns(subject);
  }
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if (i != own) {
      print_comparison(subject, measured[i]);
    }
  }
  out_ << '\n';
  for (const Measured& one : measured) {
    for (const std::string& note : one.notes) {
      fmt::print(out_, "# {} {}: {}{}\n", line, one.name, one.valid ? "" : "INVALID: ", note);
    }
  }
  out_.flush();
}

namespace {

bool is_worse(Target::Sense sense, double a, double b) {
  return sense == Target::Sense::time_at_most ? a > b : a < b;
}

void update_worst(TargetResult& result, const std::string& where, const Ratio& ratio) {
  ++result.cases;
  if (!result.worst || is_worse(result.target.sense, ratio.value, result.worst->value)) {
    result.worst = ratio;
    result.where = where;
  }
}

std::string describe(const Case& c) {
  return c.layout == Layout::contiguous ? fmt::format("{} {}", c.name(), c.bytes())
                                        : fmt::format("{} {}", c.name(), c.shape());
}

}  // namespace

bool TargetResult::is_reached() const {
  return worst && !has_few_samples() && !is_worse(target.sense, worst->value, target.limit);
}

void Targets::add(std::vector<Target> targets) {
  for (Target& target : targets) {
    results_.push_back({std::move(target), std::nullopt, "", 0, 0});
  }
}

void Targets::look(const Case& c, const std::vector<Measured>& measured, const Measured& subject) {
  for (TargetResult& result : results_) {
    if (!result.target.applies || !result.target.applies(c)) {
      continue;
    }
    const auto reference = std::find_if(measured.begin(), measured.end(), [&](const Measured& one) {
      return one.name == result.target.reference;
    });
    if (reference == measured.end()) {
      ++result.cases_without_reference;
      continue;
    }
    update_worst(result, describe(c),
                 result.target.sense == Target::Sense::time_at_most
                     ? ratio_of_medians(subject.samples_ns, reference->samples_ns)
                     : ratio_of_medians(reference->samples_ns, subject.samples_ns));
  }
}

void Targets::observe(std::string_view name, const std::string& where, const Ratio& ratio) {
  for (TargetResult& result : results_) {
    if (result.target.name == name) {
      update_worst(result, where, ratio);
    }
  }
}

void Targets::record_missing_reference(std::string_view name) {
  for (TargetResult& result : results_) {
    result.cases_without_reference += result.target.name == name ? 1 : 0;
  }
}

namespace {

std::string verdict_of(const TargetResult& result) {
  if (result.has_few_samples()) {
    return fmt::format("too few samples: {} of {}", result.worst->samples_n,
                       samples_for_an_interval);
  }
  return result.is_reached() ? "yes" : "NO";
}

}  // namespace

void Targets::print(std::ostream& out) const {
  if (results_.empty()) {
    return;
  }
  constexpr int narrow = 10;
  constexpr int wide = 20;
  std::size_t width = 50;
  for (const TargetResult& result : results_) {
    width = std::max(width, result.target.name.size());
  }
  width += 2;
  fmt::print(out, "# {:<{}}{}{}{}  {:<32}{:>6}  {}\n", "Target", width - 2, column("limit", narrow),
             column("worst", narrow), column("95 % interval", wide), "at", "cases", "reached");
  for (const TargetResult& result : results_) {
    const char* sign = result.target.sense == Target::Sense::time_at_most ? "<=" : ">=";
    fmt::print(out, "{:<{}}{}", result.target.name, width,
               column(fmt::format("{} {:.2f}", sign, result.target.limit), narrow));
    if (result.worst) {
      fmt::print(out, "{}{}  {:<32}{:>6}  {}\n", column(ratio_text(result.worst->value), narrow),
                 column(ratio_text(result.worst->ci95), wide), result.where, result.cases,
                 verdict_of(result));
    } else {
      fmt::print(out, "{}{}  {:<32}{:>6}  {}\n", column("-", narrow), column("", wide), "", 0,
                 result.cases_without_reference == 0
                     ? "not measured in this run"
                     : fmt::format("not measured: no {}", result.target.reference));
    }
  }
}

}  // namespace tessera::bench
