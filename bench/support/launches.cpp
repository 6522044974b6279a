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
const Json* find_like(const Json& results, const Json& wanted) {
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

std::optional<RatioOverLaunches> ratio_over(const std::vector<Json>& reports, const Json& first) {
  RatioOverLaunches combined;
  std::vector<double> values;
  for (const Json& report : reports) {
    const Json* const result = find_like(report.at("results"), first);
    if (result == nullptr || !result->contains("ratio")) {
      return std::nullopt;
    }
    const Json& ratio = result->at("ratio");
    values.push_back(ratio.at("value"));
    if (result->value("samples_n", samples_for_an_interval) >= samples_for_an_interval) {
      combined.faster += ratio.at("ci95").at(1).get<double>() < 1 ? 1 : 0;
      combined.slower += ratio.at("ci95").at(0).get<double>() > 1 ? 1 : 0;
    }
    combined.reference = ratio.at("to");
  }
  combined.what = describe(first);
  combined.backend = first.at("backend");
  combined.values = summarise(values);
  return combined;
}

std::optional<TargetOverLaunches> target_over(const std::vector<Json>& reports, const Json& first) {
  std::vector<double> worst;
  for (const Json& report : reports) {
    const Json& targets = report.at("targets");
    const auto found = std::find_if(targets.begin(), targets.end(), [&](const Json& target) {
      return target.at("name") == first.at("name") && target.contains("worst");
    });
    if (found == targets.end()) {
      return std::nullopt;
    }
    worst.push_back(found->at("worst"));
  }
  return TargetOverLaunches{first.at("name"), first.at("asked") == "at_most", first.at("limit"),
                            summarise(worst)};
}

/// What may be said: in every launch faster, or slower, or neither. A few launches only hint at it.
std::string verdict(const RatioOverLaunches& ratio, int launches) {
  if (ratio.faster != launches && ratio.slower != launches) {
    return "-";
  }
  return fmt::format("{}{}", ratio.faster == launches ? "faster" : "slower",
                     launches < static_cast<int>(launches_for_a_claim) ? "?" : "");
}

}  // namespace

Launches combine(const std::vector<Json>& reports) {
  Launches combined;
  combined.count = static_cast<int>(reports.size());
  for (const Json& result : reports.front().at("results")) {
    if (auto ratio = ratio_over(reports, result)) {
      combined.ratios.push_back(std::move(*ratio));
    }
  }
  for (const Json& target : reports.front().at("targets")) {
    if (auto over = target_over(reports, target)) {
      combined.targets.push_back(std::move(*over));
    }
  }
  return combined;
}

void print(std::ostream& out, const Launches& launches) {
  fmt::print(out,
             "# Ratios of times over {} launches; faster and slower: in each of them; with ?: of "
             "fewer than {}, a hint\n",
             launches.count, launches_for_a_claim);
  fmt::print(out, "# {:<46}{:<22}{:<18}{:>9}{:>9}{:>9}  {}\n", "Of", "backend", "to", "median",
             "least", "most", "says");
  for (const RatioOverLaunches& ratio : launches.ratios) {
    fmt::print(out, "{:<48}{:<22}{:<18}{:>9.3f}{:>9.3f}{:>9.3f}  {}\n", ratio.what, ratio.backend,
               ratio.reference, ratio.values.median, ratio.values.min, ratio.values.max,
               verdict(ratio, launches.count));
  }
  fmt::print(out, "# Targets over {} launches: the median of the worst of each\n", launches.count);
  for (const TargetOverLaunches& target : launches.targets) {
    fmt::print(out, "# {:<46} {} {:<8.3f} median {:.3f} [{:.3f},{:.3f}] {}\n", target.name,
               target.at_most ? "<=" : ">=", target.limit, target.worst.median, target.worst.min,
               target.worst.max, target.is_reached() ? "yes" : "NO");
  }
}

}  // namespace tessera::bench
