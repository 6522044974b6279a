// SPDX-License-Identifier: BSD-3-Clause
#include "bench/report/families.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace tessera::bench::report {
namespace {

/// What variants that differ only in their numbers of ranks have in common: "1 rank a node", and
/// all other settings that don't follow from these numbers.
struct Family {
  std::string ranks_per_node;
  std::map<std::string, std::string> setting;
  friend auto operator<=>(const Family&, const Family&) = default;
};

Family family_of(const Dataset& dataset, const Variant& variant,
                 std::initializer_list<const char*> but) {
  Family family{ranks_per_node_of(*variant.launches.front()), dataset.settings_of(variant)};
  for (const char* const name : but) {
    family.setting.erase(name);
  }
  return family;
}

bool has_a_number_twice(const Members& members) {
  std::set<std::int64_t> seen;
  return std::any_of(members.begin(), members.end(), [&seen](const Variant* variant) {
    return !seen.insert(variant->launches.front()->ranks).second;
  });
}

}  // namespace

std::string ranks_per_node_of(const RunFile& run) {
  if (run.nodes == 1) {
    return "on one node";
  }
  const std::int64_t most = (run.ranks + run.nodes - 1) / run.nodes;
  return fmt::format("{}{} rank{} a node", run.ranks % run.nodes == 0 ? "" : "up to ", most,
                     most == 1 ? "" : "s");
}

std::vector<Members> families_of(const Dataset& dataset, const Members& variants) {
  std::map<Family, Members> broad;
  for (const Variant* const variant : variants) {
    Family family = family_of(
        dataset, *variant, {"ranks", "nodes", "binding", "cores", "mpi", "TESSERA_RANKS_PER_NODE"});
    std::erase_if(family.setting, [](const auto& each) { return each.first.starts_with("OMPI_"); });
    broad[family].push_back(variant);
  }
  std::vector<Members> families;
  for (const auto& [family, members] : broad) {
    if (!has_a_number_twice(members)) {
      families.push_back(members);
      continue;
    }
    std::map<Family, Members> narrow;
    for (const Variant* const variant : members) {
      narrow[family_of(dataset, *variant, {"ranks", "nodes"})].push_back(variant);
    }
    for (auto& each : narrow) {
      families.push_back(std::move(each.second));
    }
  }
  return families;
}

std::string other_settings(const Members& members) {
  constexpr std::string_view comma = ", ";
  std::string longest;
  for (const Variant* const variant : members) {
    const std::size_t end = variant->setting.find(comma);
    const std::string rest =
        end == std::string::npos ? "" : variant->setting.substr(end + comma.size());
    longest = rest.size() > longest.size() ? rest : longest;
  }
  return longest;
}

}  // namespace tessera::bench::report
