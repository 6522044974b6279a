// SPDX-License-Identifier: BSD-3-Clause
#include "apps/launcher/run_report.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>

#include "rma/tuning.hpp"

namespace tessera::apps {
namespace {

using Json = nlohmann::ordered_json;

// How ranks are placed, as they find it in their environment. If settings are invalid, the ranks
// have reported that themselves, and nothing is added.
void add_placement(Json& json, const rma::LaunchOptions& options) {
  const auto settings = rma::Settings::from_environment();
  json["nodes"] = nullptr;
  json["transport"] = nullptr;
  if (!settings.ok()) {
    return;
  }
  const std::int64_t each = settings->ranks_per_node;
  json["nodes"] = options.nodes > 0 ? options.nodes
                  : each > 0        ? (options.ranks + each - 1) / each
                                    : 1;
  json["transport"] = settings->transport;
}

Json describe(const rma::RankExit& ended) {
  Json json;
  json["rank"] = ended.rank;
  if (ended.signal != 0) {
    json["signal"] = ended.signal;
  } else {
    json["exit_code"] = ended.exit_code;
  }
  if (ended.was_signalled) {
    json["was_signalled"] = true;
  }
  return json;
}

}  // namespace

std::string describe_run(const FinishedRun& run, const rma::LaunchOptions& options) {
  Json json;
  json["program"] = run.program;
  json["ranks"] = options.ranks;
  add_placement(json, options);
  json["seconds"] = run.seconds;
  json["exit_code"] = run.exit_code;
  json["exits"] = Json::array();
  for (const rma::RankExit& each : run.exits) {
    json["exits"].push_back(describe(each));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace tessera::apps
