// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "apps/tool/checks.hpp"

namespace tessera::tool {
namespace {

enum class Scope { process, machine, job };

struct Check {
  Scope scope = Scope::process;
  Finding (*of_one)(const Environment&) = nullptr;
  Finding (*of_all)(const Snapshot&) = nullptr;
};

// In the order of the table.
constexpr std::array checks = {
    Check{.scope = Scope::process, .of_one = check_settings},
    Check{.scope = Scope::job, .of_all = check_same_settings},
    Check{.scope = Scope::job, .of_all = check_launcher},
    Check{.scope = Scope::process, .of_one = check_mpi},
    Check{.scope = Scope::machine, .of_one = check_root},
    Check{.scope = Scope::job, .of_all = check_job},
    Check{.scope = Scope::job, .of_all = check_connections},
    Check{.scope = Scope::machine, .of_one = check_network},
    Check{.scope = Scope::machine, .of_one = check_congestion},
    Check{.scope = Scope::machine, .of_one = check_devices},
    Check{.scope = Scope::process, .of_one = check_locked_memory},
    Check{.scope = Scope::job, .of_all = check_processors},
    Check{.scope = Scope::job, .of_all = check_binding},
    Check{.scope = Scope::job, .of_all = check_agent},
    Check{.scope = Scope::job, .of_all = check_blas},
    Check{.scope = Scope::machine, .of_one = check_memory},
    Check{.scope = Scope::process, .of_one = check_address_space},
    Check{.scope = Scope::process, .of_one = check_file_sizes},
    Check{.scope = Scope::machine, .of_one = check_shared_memory},
    Check{.scope = Scope::machine, .of_one = check_leftover_memory},
    Check{.scope = Scope::machine, .of_one = check_transparent_pages},
    Check{.scope = Scope::machine, .of_one = check_reserved_pages},
    Check{.scope = Scope::process, .of_one = check_descriptors},
    Check{.scope = Scope::process, .of_one = check_tracing},
    Check{.scope = Scope::machine, .of_one = check_clock_source},
    Check{.scope = Scope::job, .of_all = check_clocks},
};

// By rank: the first rank of the same machine.
std::vector<std::size_t> first_on_machine(const Snapshot& all) {
  std::map<std::string, std::size_t> first;
  std::vector<std::size_t> found;
  for (std::size_t rank = 0; rank < all.ranks.size(); ++rank) {
    found.push_back(first.try_emplace(all.ranks[rank].machine, rank).first->second);
  }
  return found;
}

int node_of(const Snapshot& all, int rank) {
  const auto& nodes = all.connections.node_of;
  const auto at = static_cast<std::size_t>(rank);
  return at < nodes.size() ? nodes[at].value : 0;
}

// "h1, h2" for all ranks of these nodes, otherwise "ranks 2, 3".
std::string location_text(const Snapshot& all, const std::vector<int>& ranks) {
  std::map<int, int> missing;
  for (int rank = 0; rank < static_cast<int>(all.ranks.size()); ++rank) {
    ++missing[node_of(all, rank)];
  }
  std::set<int> nodes;
  for (const int rank : ranks) {
    --missing[node_of(all, rank)];
    nodes.insert(node_of(all, rank));
  }
  const bool is_whole =
      std::all_of(nodes.begin(), nodes.end(), [&](int node) { return missing[node] == 0; });
  if (!is_whole) {
    return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "));
  }
  std::vector<std::string> names;
  std::transform(nodes.begin(), nodes.end(), std::back_inserter(names),
                 [&](int node) { return node_name(all, rma::NodeId{node}); });
  return fmt::format("{}", fmt::join(names, ", "));
}

// Findings with the same state and remedy, by their text.
using FindingsByText = std::vector<std::pair<std::string, std::vector<int>>>;

void add(FindingsByText& findings_by_text, const PlacedFinding& each) {
  const auto known =
      std::find_if(findings_by_text.begin(), findings_by_text.end(),
                   [&](const auto& entry) { return entry.first == each.finding.found; });
  std::vector<int>& ranks =
      known == findings_by_text.end()
          ? findings_by_text.emplace_back(each.finding.found, std::vector<int>()).second
          : known->second;
  ranks.insert(ranks.end(), each.ranks.begin(), each.ranks.end());
}

PlacedFinding to_line(const Snapshot& all, PlacedFinding line,
                      const FindingsByText& findings_by_text) {
  constexpr std::size_t most = 4;
  line.ranks.clear();
  std::vector<std::string> texts;
  for (const auto& [found, ranks] : findings_by_text) {
    line.ranks.insert(line.ranks.end(), ranks.begin(), ranks.end());
    if (texts.size() < most) {
      texts.push_back(fmt::format("{}: {}", location_text(all, ranks), found));
    }
  }
  std::sort(line.ranks.begin(), line.ranks.end());
  const bool is_everywhere = line.ranks.empty() || line.ranks.size() == all.ranks.size();
  if (findings_by_text.size() == 1 && is_everywhere) {
    return line;
  }
  line.finding.found = fmt::format("{}", fmt::join(texts, "; "));
  if (findings_by_text.size() > most) {
    line.finding.found += fmt::format("; and {} more", findings_by_text.size() - most);
  }
  return line;
}

}  // namespace

std::string node_name(const Snapshot& all, rma::NodeId node) {
  const auto& nodes = all.connections.node_of;
  const auto rank = std::find(nodes.begin(), nodes.end(), node) - nodes.begin();
  if (all.connections.machines < all.connections.nodes() || rank == std::ssize(nodes)) {
    return fmt::format("node {}", node.value);
  }
  return all.ranks[static_cast<std::size_t>(rank)].host;
}

std::vector<PlacedFinding> examine(const Snapshot& all) {
  const std::vector<std::size_t> first = first_on_machine(all);
  std::vector<PlacedFinding> findings;
  for (const Check& check : checks) {
    if (check.scope == Scope::job) {
      findings.push_back({check.of_all(all), {}});
      continue;
    }
    for (std::size_t rank = 0; rank < all.ranks.size(); ++rank) {
      const std::size_t source_rank = check.scope == Scope::machine ? first[rank] : rank;
      findings.push_back({check.of_one(all.ranks[source_rank]), {static_cast<int>(rank)}});
    }
  }
  return findings;
}

std::vector<PlacedFinding> join(const Snapshot& all, const std::vector<PlacedFinding>& findings) {
  std::vector<PlacedFinding> lines;
  for (auto begin = findings.begin(); begin != findings.end();) {
    const auto end = std::find_if(begin, findings.end(), [&](const PlacedFinding& each) {
      return each.finding.name != begin->finding.name;
    });
    std::vector<std::pair<PlacedFinding, FindingsByText>> groups;
    for (; begin != end; ++begin) {
      const auto known = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
        return group.first.finding.state == begin->finding.state &&
               group.first.finding.remedy == begin->finding.remedy;
      });
      add(known == groups.end() ? groups.emplace_back(*begin, FindingsByText()).second
                                : known->second,
          *begin);
    }
    std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
      return a.first.finding.state > b.first.finding.state;
    });
    for (const auto& [line, findings_by_text] : groups) {
      lines.push_back(to_line(all, line, findings_by_text));
    }
  }
  return lines;
}

}  // namespace tessera::tool
