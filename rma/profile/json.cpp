// SPDX-License-Identifier: BSD-3-Clause
//
// The file of TESSERA_PROFILE=json, as docs/profile.md and docs/profile.schema.json describe it. A
// change here needs a change there, and a new format number if it would mislead readers.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

#include "rma/base/version.hpp"
#include "rma/profile/job_profile.hpp"

namespace tessera::rma::detail {
namespace {

using nlohmann::ordered_json;

constexpr int format_number = 1;

ordered_json json_of(const Tally& tally) {
  return {{"operations", tally.operations}, {"bytes", tally.bytes}};
}

// One entry for each kind that was used.
ordered_json json_of(const KindTallies& tallies) {
  ordered_json kinds = ordered_json::array();
  for (std::size_t kind = 0; kind < op_kinds; ++kind) {
    if (tallies[kind].operations == 0) {
      continue;
    }
    ordered_json entry = {{"operation", to_string(op_of(kind))}};
    if (static_cast<std::size_t>(op_of(kind)) < formed_ops) {
      entry["form"] = to_string(form_of(kind));
    }
    entry.update(json_of(tallies[kind]));
    kinds.push_back(std::move(entry));
  }
  return kinds;
}

ordered_json json_of(const Spread& spread) {
  return {{"most", spread.most},
          {"rank", spread.max_rank},
          {"mean", spread.mean},
          {"most_of_mean", spread.most_of_mean()}};
}

ordered_json json_of(const WaitTallies& tallies) {
  ordered_json waits = ordered_json::object();
  for (std::size_t i = 0; i < wait_count; ++i) {
    const WaitTally& own = tallies[i];
    if (own.count > 0) {
      waits[std::string(to_string(static_cast<Wait>(i)))] = {
          {"count", own.count},
          {"bytes", own.bytes},
          {"seconds", seconds_of(own.total_ns)},
          {"longest_seconds", seconds_of(own.longest_ns)}};
    }
  }
  return waits;
}

ordered_json json_of(const OpTallies& by_op) {
  ordered_json tallies = ordered_json::object();
  for (std::size_t op = 0; op < op_count; ++op) {
    if (by_op[op].operations > 0) {
      tallies[std::string(to_string(static_cast<Op>(op)))] = json_of(by_op[op]);
    }
  }
  return tallies;
}

ordered_json json_of(const RankProfile& rank) {
  return {{"rank", rank.rank},
          {"node", rank.node},
          {"seconds", seconds_of(static_cast<std::uint64_t>(rank.stop_ns - rank.start_ns))},
          {"waiting_seconds", seconds_of(rank.waiting_ns())},
          {"waits", json_of(rank.waits)}};
}

ordered_json traffic_of(const std::vector<RankProfile>& ranks) {
  ordered_json flows = ordered_json::array();
  for (const RankProfile& rank : ranks) {
    for (const PeerTraffic& peer : rank.peers) {
      ordered_json flow = {{"from", rank.rank}, {"to", peer.peer.value}};
      flow.update(json_of(peer.by_op));
      flows.push_back(std::move(flow));
    }
  }
  return flows;
}

ordered_json regions_of(const JobProfile& profile) {
  ordered_json regions = ordered_json::array();
  for (const RegionCounts::Entry& each : profile.regions()) {
    ordered_json operations = json_of(each.tallies);
    if (each.regions > 0 || !operations.empty()) {
      regions.push_back({{"name", each.name},
                         {"regions", each.regions},
                         {"bytes", each.max_bytes},
                         {"operations", std::move(operations)}});
    }
  }
  return regions;
}

ordered_json waits_of(const JobProfile& profile) {
  ordered_json waits = ordered_json::array();
  for (std::size_t i = 0; i < wait_count; ++i) {
    const WaitSum sum = profile.wait(static_cast<Wait>(i));
    if (sum.all.count > 0) {
      waits.push_back({{"wait", to_string(static_cast<Wait>(i))},
                       {"count", sum.all.count},
                       {"bytes", sum.all.bytes},
                       {"seconds", seconds_of(sum.all.total_ns)},
                       {"longest_seconds", seconds_of(sum.all.longest_ns)},
                       {"imbalance", json_of(sum.seconds)}});
    }
  }
  return waits;
}

ordered_json calls_of(const JobProfile& profile) {
  ordered_json calls = ordered_json::array();
  for (const LabelSum& sum : profile.labels()) {
    calls.push_back({{"call", sum.label},
                     {"count", sum.all.count},
                     {"seconds", seconds_of(sum.all.total_ns)},
                     {"longest_seconds", seconds_of(sum.all.longest_ns)},
                     {"imbalance", json_of(sum.seconds)}});
  }
  return calls;
}

ordered_json phases_of(const JobProfile& profile) {
  ordered_json phases = ordered_json::array();
  for (const PhaseSum& phase : profile.phases()) {
    ordered_json calls = ordered_json::array();
    for (const LabelledWait& each : phase.calls) {
      calls.push_back({{"call", each.label},
                       {"count", each.tally.count},
                       {"seconds", seconds_of(each.tally.total_ns)},
                       {"longest_seconds", seconds_of(each.tally.longest_ns)}});
    }
    ordered_json regions = ordered_json::array();
    for (const PhaseSum::Operations& each : phase.operations) {
      ordered_json region = {{"name", each.name}};
      region.update(json_of(each.by_op));
      regions.push_back(std::move(region));
    }
    phases.push_back({{"phase", phase.path},
                      {"count", phase.all.count},
                      {"left_open", phase.left_open},
                      {"seconds", seconds_of(phase.all.total_ns)},
                      {"longest_seconds", seconds_of(phase.all.longest_ns)},
                      {"imbalance", json_of(phase.seconds)},
                      {"waiting_seconds", seconds_of(phase.waiting_ns())},
                      {"moved_bytes", phase.moved_bytes()},
                      {"waits", json_of(phase.waits)},
                      {"calls", std::move(calls)},
                      {"regions", std::move(regions)}});
  }
  return phases;
}

}  // namespace

std::string JobProfile::json() const {
  ordered_json ranks_known = ordered_json::array();
  for (const RankProfile& each : ranks) {
    ranks_known.push_back(json_of(each));
  }
  ordered_json imbalance = {{"waiting_seconds", json_of(waiting())},
                            {"moved_bytes", json_of(moved())}};
  if (is_complete()) {
    imbalance["owned_bytes"] = json_of(owned());
  }
  const ordered_json document = {{"tessera_profile", format_number},
                                 {"version", version()},
                                 {"ranks", job_ranks},
                                 {"nodes", job_nodes},
                                 {"complete", is_complete()},
                                 {"missing", missing},
                                 {"seconds", seconds()},
                                 {"operations", json_of(kinds())},
                                 {"regions", regions_of(*this)},
                                 {"waits", waits_of(*this)},
                                 {"calls", calls_of(*this)},
                                 {"phases", phases_of(*this)},
                                 {"imbalance", std::move(imbalance)},
                                 {"traffic", traffic_of(ranks)},
                                 {"by_rank", std::move(ranks_known)}};
  // The program's names: what isn't UTF-8 is replaced.
  return document.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace tessera::rma::detail
