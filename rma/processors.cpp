// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/processors.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <vector>

namespace tessera::rma::detail {

ProcessorSet own_processors() noexcept {
  cpu_set_t own;
  CPU_ZERO(&own);
  const bool is_known = sched_getaffinity(0, sizeof own, &own) == 0;
  // Refused where a mask has more bits than the set, and by sandboxes: those are not bound.
  const auto online = static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  ProcessorSet set;
  for (std::size_t at = 0; at < set.size(); ++at) {
    set.set(at, is_known ? CPU_ISSET(at, &own) != 0 : at < online);
  }
  return set;
}

namespace {

/// What the quotas of a node's control groups give, in processors.
struct NodeQuota {
  double all = std::numeric_limits<double>::infinity();
  double share = all;  ///< if each group's quota is divided equally among the nodes that have it
};

// Requires: `ranks` are those of one kernel.
NodeQuota quota_of(NodeId node, std::span<const RankPlace* const> ranks) {
  std::map<std::uint64_t, std::set<NodeId>> nodes_of_groups;
  std::map<std::uint64_t, double> quotas;  // of the groups of `node`
  for (const RankPlace* rank : ranks) {
    if (rank->node == node && rank->quota.processors <= 0) {
      return {};
    }
    nodes_of_groups[rank->quota.group].insert(rank->node);
    if (rank->node == node) {
      quotas[rank->quota.group] = rank->quota.processors;
    }
  }
  NodeQuota found{.all = 0, .share = 0};
  for (const auto& [group, processors] : quotas) {
    found.all += processors;
    found.share += processors / static_cast<double>(nodes_of_groups[group].size());
  }
  return found;
}

}  // namespace

NodeProcessors processors_of(NodeId node, std::span<const RankPlace> ranks) {
  const auto own = std::find_if(ranks.begin(), ranks.end(),
                                [&](const RankPlace& rank) { return rank.node == node; });
  std::map<NodeId, ProcessorSet> of_nodes;  // of that kernel
  std::vector<const RankPlace*> on_kernel;
  for (const RankPlace& rank : ranks) {
    if (rank.kernel == own->kernel) {
      of_nodes[rank.node] |= rank.processors;
      on_kernel.push_back(&rank);
    }
  }
  const ProcessorSet& usable = of_nodes[node];
  double share = 0.0;
  for (std::size_t at = 0; at < usable.size(); ++at) {
    if (usable.test(at)) {
      share += 1.0 / static_cast<double>(
                         std::count_if(of_nodes.begin(), of_nodes.end(),
                                       [&](const auto& each) { return each.second.test(at); }));
    }
  }
  constexpr double rounding = 1e-6;  // thirds and the like, of at most 1024
  const NodeQuota quota = quota_of(node, on_kernel);
  const double all = std::min(static_cast<double>(usable.count()), std::max(quota.all, 1.0));
  return {.usable = static_cast<std::int32_t>(all + rounding),
          .share = static_cast<std::int32_t>(std::min(share, quota.share) + rounding)};
}

}  // namespace tessera::rma::detail
