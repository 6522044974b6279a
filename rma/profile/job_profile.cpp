// SPDX-License-Identifier: BSD-3-Clause
#include "rma/profile/job_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace tessera::rma::detail {
namespace {

std::uint64_t bytes_of(const KindTallies& tallies) {
  return std::accumulate(tallies.begin(), tallies.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Tally& each) { return sum + each.bytes; });
}

Tally sum_of(const PeerTraffic& peer) {
  Tally sum;
  for (const Op op : {Op::put, Op::get, Op::accumulate, Op::atomic}) {
    sum += peer.by_op[static_cast<std::size_t>(op)];
  }
  return sum;
}

// The spread of `value(rank)` over the ranks.
template <class Value>
Spread spread_of(const std::vector<RankProfile>& ranks, const Value& value) {
  Spread spread;
  double sum = 0;
  for (const RankProfile& each : ranks) {
    const double has = value(each);
    sum += has;
    if (has > spread.most) {
      spread.most = has;
      spread.max_rank = each.rank;
    }
  }
  spread.mean = sum / static_cast<double>(ranks.size());
  return spread;
}

void add(WaitTally& sum, const WaitTally& own) {
  sum.count += own.count;
  sum.bytes += own.bytes;
  sum.total_ns += own.total_ns;
  sum.longest_ns = std::max(sum.longest_ns, own.longest_ns);
}

using FlowMap = std::map<std::pair<std::int32_t, std::int32_t>, Tally>;

std::vector<Flow> flows_of(const FlowMap& map) {
  std::vector<Flow> flows;
  for (const auto& [ends, tally] : map) {
    if (tally.operations > 0) {
      flows.push_back({ends.first, ends.second, tally});
    }
  }
  return flows;
}

}  // namespace

std::string name_of_kind(std::size_t kind) {
  const Op op = op_of(kind);
  return static_cast<std::size_t>(op) < formed_ops
             ? fmt::format("{} {}", to_string(op), to_string(form_of(kind)))
             : std::string(to_string(op));
}

double JobProfile::seconds() const noexcept {
  std::int64_t longest = 0;
  for (const RankProfile& each : ranks) {
    longest = std::max(longest, each.stop_ns - each.start_ns);
  }
  return seconds_of(static_cast<std::uint64_t>(longest));
}

KindTallies JobProfile::kinds() const {
  KindTallies sums{};
  for (const RankProfile& rank : ranks) {
    for (const RegionCounts::Entry& region : rank.regions) {
      for (std::size_t kind = 0; kind < op_kinds; ++kind) {
        sums[kind] += region.tallies[kind];
      }
    }
  }
  return sums;
}

std::vector<RegionCounts::Entry> JobProfile::regions() const {
  std::map<std::string, RegionCounts::Entry> by_name;
  for (const RankProfile& rank : ranks) {
    for (const RegionCounts::Entry& region : rank.regions) {
      RegionCounts::Entry& sum = by_name[region.name];
      sum.name = region.name;
      sum.regions = std::max(sum.regions, region.regions);
      sum.max_bytes += region.max_bytes;
      for (std::size_t kind = 0; kind < op_kinds; ++kind) {
        sum.tallies[kind] += region.tallies[kind];
      }
    }
  }
  std::vector<RegionCounts::Entry> all;
  for (auto& [name, entry] : by_name) {
    all.push_back(std::move(entry));
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return bytes_of(a.tallies) > bytes_of(b.tallies);
  });
  return all;
}

std::vector<LabelSum> JobProfile::labels() const {
  std::map<std::string, std::vector<std::pair<const RankProfile*, WaitTally>>> by_label;
  for (const RankProfile& rank : ranks) {
    for (const LabelledWait& each : rank.labels) {
      by_label[each.label].emplace_back(&rank, each.tally);
    }
  }
  std::vector<LabelSum> all;
  for (const auto& [label, tallies] : by_label) {
    LabelSum& sum = all.emplace_back(LabelSum{.label = label, .all = {}, .seconds = {}});
    for (const auto& [rank, own] : tallies) {
      add(sum.all, own);
    }
    sum.seconds = spread_of(ranks, [&tallies = tallies](const RankProfile& rank) {
      const auto own = std::find_if(tallies.begin(), tallies.end(),
                                    [&](const auto& each) { return each.first == &rank; });
      return own == tallies.end() ? 0.0 : seconds_of(own->second.total_ns);
    });
  }
  std::stable_sort(all.begin(), all.end(), [](const LabelSum& a, const LabelSum& b) {
    return a.all.total_ns > b.all.total_ns;
  });
  return all;
}

WaitSum JobProfile::wait(Wait wait) const {
  const auto index = static_cast<std::size_t>(wait);
  WaitSum sum;
  for (const RankProfile& rank : ranks) {
    add(sum.all, rank.waits[index]);
  }
  sum.seconds = spread_of(
      ranks, [=](const RankProfile& rank) { return seconds_of(rank.waits[index].total_ns); });
  return sum;
}

Spread JobProfile::waiting() const {
  return spread_of(ranks, [](const RankProfile& rank) { return seconds_of(rank.waiting_ns()); });
}

Spread JobProfile::moved() const {
  return spread_of(ranks, [](const RankProfile& rank) {
    return std::accumulate(rank.peers.begin(), rank.peers.end(), 0.0,
                           [](double sum, const PeerTraffic& peer) {
                             return sum + static_cast<double>(sum_of(peer).bytes);
                           });
  });
}

Spread JobProfile::owned() const {
  std::vector<std::uint64_t> bytes(static_cast<std::size_t>(job_ranks));
  for (const Flow& flow : flows()) {
    bytes[static_cast<std::size_t>(flow.to)] += flow.tally.bytes;
  }
  const auto most = std::max_element(bytes.begin(), bytes.end());
  return {
      .max_rank = static_cast<std::int32_t>(most - bytes.begin()),
      .most = static_cast<double>(*most),
      .mean = static_cast<double>(std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0})) /
              static_cast<double>(job_ranks)};
}

std::vector<Flow> JobProfile::flows() const {
  FlowMap map;
  for (const RankProfile& rank : ranks) {
    for (const PeerTraffic& peer : rank.peers) {
      map[{rank.rank, peer.peer.value}] += sum_of(peer);
    }
  }
  return flows_of(map);
}

std::vector<Flow> JobProfile::node_flows() const {
  FlowMap map;
  for (const Flow& flow : flows()) {
    map[{node_of[static_cast<std::size_t>(flow.from)],
         node_of[static_cast<std::size_t>(flow.to)]}] += flow.tally;
  }
  return flows_of(map);
}

}  // namespace tessera::rma::detail
