// SPDX-License-Identifier: BSD-3-Clause
#include "bench/support/launches.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

namespace tessera::bench {
namespace {

using Json = nlohmann::ordered_json;

/// The same measurement in another report, or null.
const Json* find_same_measurement(const Json& results, const Json& wanted) {
  constexpr std::array keys = {"bench", "op", "shape", "size", "unit", "backend"};
  const auto found = std::find_if(results.begin(), results.end(), [&](const Json& result) {
    return std::all_of(keys.begin(), keys.end(),
                       [&](const char* key) { return result.at(key) == wanted.at(key); });
  });
  return found == results.end() ? nullptr : &*found;
}

std::string describe(const Json& result) {
  std::string text =
      result.at("bench").get<std::string>() + " " + result.at("op").get<std::string>();
  if (const std::string shape = result.at("shape"); !shape.empty()) {
    text += " " + shape;
  }
  return fmt::format("{} {} B", text, result.at("size").get<std::int64_t>());
}

/// The ratio of `result`, which may be null, to `reference`; or null.
const Json* find_ratio(const Json* result, const Json& reference) {
  if (result == nullptr || !result->contains("against")) {
    return nullptr;
  }
  const Json& against = result->at("against");
  const auto found = std::find_if(against.begin(), against.end(),
                                  [&](const Json& ratio) { return ratio.at("to") == reference; });
  return found == against.end() ? nullptr : &*found;
}

std::optional<RatioOverLaunches> ratio_over(const std::vector<Json>& reports, const Json& first,
                                            const Json& reference) {
  RatioOverLaunches combined;
  std::vector<double> values;
  for (const Json& report : reports) {
    const Json* const result = find_same_measurement(report.at("results"), first);
    const Json* const ratio = find_ratio(result, reference);
    if (ratio == nullptr) {
      return std::nullopt;
    }
    values.push_back(ratio->at("value"));
    if (result->value("samples_n", samples_for_an_interval) >= samples_for_an_interval) {
      combined.faster += ratio->at("ci95").at(1).get<double>() < 1 ? 1 : 0;
      combined.slower += ratio->at("ci95").at(0).get<double>() > 1 ? 1 : 0;
    }
  }
  combined.what = describe(first);
  combined.backend = first.at("backend");
  combined.reference = reference;
  combined.values = summarise(values);
  return combined;
}

/// Appends the ratios of one result to all others in its table. Only the result that the table is
/// about has any: baselines are not compared with each other.
void add_ratios(const std::vector<Json>& reports, const Json& first,
                std::vector<RatioOverLaunches>& ratios) {
  if (!first.contains("against")) {
    return;
  }
  for (const Json& each : first.at("against")) {
    if (auto ratio = ratio_over(reports, first, each.at("to"))) {
      ratios.push_back(std::move(*ratio));
    }
  }
}

std::optional<TargetOverLaunches> target_over(const std::vector<Json>& reports, const Json& first) {
  std::vector<double> worst;
  bool has_few_samples = false;
  for (const Json& report : reports) {
    const Json& targets = report.at("targets");
    const auto found = std::find_if(targets.begin(), targets.end(), [&](const Json& target) {
      return target.at("name") == first.at("name") && target.contains("worst");
    });
    if (found == targets.end()) {
      return std::nullopt;
    }
    worst.push_back(found->at("worst"));
    has_few_samples = has_few_samples ||
                      found->value("samples_n", samples_for_an_interval) < samples_for_an_interval;
  }
  return TargetOverLaunches{first.at("name"), first.at("asked") == "at_most", first.at("limit"),
                            summarise(worst), has_few_samples};
}

/// The verdict: faster in every launch, slower in every launch, or neither; "?" for too few
/// launches.
std::string verdict(const RatioOverLaunches& ratio, int launches) {
  if (ratio.faster != launches && ratio.slower != launches) {
    return "-";
  }
  return fmt::format("{}{}", ratio.faster == launches ? "faster" : "slower",
                     launches < static_cast<int>(launches_for_a_claim) ? "?" : "");
}

void print_targets(std::ostream& out, const Launches& launches) {
  std::size_t width = 46;
  for (const TargetOverLaunches& target : launches.targets) {
    width = std::max(width, target.name.size());
  }
  fmt::print(out, "# Targets over {} launches: the median of the worst of each\n", launches.count);
  for (const TargetOverLaunches& target : launches.targets) {
    fmt::print(out, "# {:<{}} {} {:<8} median {} {} {}\n", target.name, width,
               target.at_most ? "<=" : ">=", ratio_text(target.limit),
               ratio_text(target.worst.median),
               ratio_text(Interval{target.worst.min, target.worst.max}),
               target.has_few_samples ? "too few samples"
               : target.is_reached()  ? "yes"
                                      : "NO");
  }
}

}  // namespace

Launches combine(const std::vector<Json>& reports) {
  Launches combined;
  combined.count = static_cast<int>(reports.size());
  for (const Json& result : reports.front().at("results")) {
    add_ratios(reports, result, combined.ratios);
  }
  for (const Json& target : reports.front().at("targets")) {
    if (auto over = target_over(reports, target)) {
      combined.targets.push_back(std::move(*over));
    }
  }
  return combined;
}

void print(std::ostream& out, const Launches& launches) {
  std::size_t what = 48;
  std::size_t backend = 22;
  std::size_t reference = 18;
  for (const RatioOverLaunches& ratio : launches.ratios) {
    what = std::max(what, ratio.what.size() + 2);
    backend = std::max(backend, ratio.backend.size() + 2);
    reference = std::max(reference, ratio.reference.size() + 2);
  }
  fmt::print(out,
             "# Ratios of times over {} launches; faster, slower: in each launch; with ?: only a "
             "hint, because of fewer than {} launches\n",
             launches.count, launches_for_a_claim);
  fmt::print(out, "# {:<{}}{:<{}}{:<{}}{:>9}{:>9}{:>9}  {}\n", "Of", what - 2, "backend", backend,
             "to", reference, "median", "min", "max", "verdict");
  for (const RatioOverLaunches& ratio : launches.ratios) {
    fmt::print(out, "{:<{}}{:<{}}{:<{}}{:>9}{:>9}{:>9}  {}\n", ratio.what, what, ratio.backend,
               backend, ratio.reference, reference, ratio_text(ratio.values.median),
               ratio_text(ratio.values.min), ratio_text(ratio.values.max),
               verdict(ratio, launches.count));
  }
  print_targets(out, launches);
}

}  // namespace tessera::bench
