// SPDX-License-Identifier: BSD-3-Clause
#include "bench/support/target.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "bench/support/table.hpp"

namespace tessera::bench {
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
