// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "apps/tool/doctor.hpp"
#include "rma/base/version.hpp"

namespace tessera::tool {
namespace {

std::string coloured(State state, bool has_colour) {
  std::string word = fmt::format("{:<6}", to_string(state));
  if (!has_colour) {
    return word;
  }
  const int code = state == State::green ? 32 : (state == State::yellow ? 33 : 31);
  return fmt::format("\033[{}m{}\033[0m", code, word);
}

std::int64_t count_of(const std::vector<PlacedFinding>& lines, State state) {
  return std::count_if(lines.begin(), lines.end(),
                       [=](const PlacedFinding& each) { return each.finding.state == state; });
}

std::string describe_scope(const Snapshot& snapshot) {
  const std::size_t ranks = snapshot.ranks.size();
  if (ranks == 1) {
    return snapshot.ranks.front().host;
  }
  const int nodes = snapshot.connections.nodes();
  return fmt::format("{} ranks on {} node{}", ranks, nodes, nodes == 1 ? "" : "s");
}

}  // namespace

std::string table_text(const Snapshot& snapshot, const std::vector<PlacedFinding>& lines,
                       bool has_colour) {
  std::string text =
      fmt::format("tessera doctor {}: {}\n\n", rma::version(), describe_scope(snapshot));
  for (const PlacedFinding& line : lines) {
    text += fmt::format("{} {}: {}\n", coloured(line.finding.state, has_colour), line.finding.name,
                        line.finding.found);
    if (!line.finding.remedy.empty()) {
      text += fmt::format("       remedy: {}\n", line.finding.remedy);
    }
  }
  return text + fmt::format("\n{} green, {} yellow, {} red\n", count_of(lines, State::green),
                            count_of(lines, State::yellow), count_of(lines, State::red));
}

nlohmann::ordered_json table_json(const Snapshot& snapshot,
                                  const std::vector<PlacedFinding>& lines) {
  nlohmann::ordered_json json;
  json["schema"] = "tessera-doctor/1";
  json["version"] = rma::version();
  json["state"] = to_string(worst_of(lines));
  json["ranks"] = snapshot.ranks.size();
  json["nodes"] = nlohmann::ordered_json::array();
  for (std::int32_t node = 0; node < snapshot.connections.nodes(); ++node) {
    std::vector<std::size_t> ranks;
    for (std::size_t rank = 0; rank < snapshot.ranks.size(); ++rank) {
      if (snapshot.connections.node_of[rank].value == node) {
        ranks.push_back(rank);
      }
    }
    json["nodes"].push_back({{"name", node_name(snapshot, rma::NodeId{node})},
                             {"host", snapshot.ranks[ranks.front()].host},
                             {"ranks", ranks}});
  }
  json["checks"] = nlohmann::ordered_json::array();
  for (const PlacedFinding& line : lines) {
    json["checks"].push_back({{"name", line.finding.name},
                              {"state", to_string(line.finding.state)},
                              {"found", line.finding.found},
                              {"remedy", line.finding.remedy},
                              {"ranks", line.ranks}});
  }
  return json;
}

State worst_of(const std::vector<PlacedFinding>& lines) {
  State worst = State::green;
  for (const PlacedFinding& line : lines) {
    worst = std::max(worst, line.finding.state);
  }
  return worst;
}

}  // namespace tessera::tool
