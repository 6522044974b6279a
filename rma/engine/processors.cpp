// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/processors.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <map>

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

NodeProcessors processors_of(NodeId node, std::span<const RankPlace> ranks) {
  const auto own = std::find_if(ranks.begin(), ranks.end(),
                                [&](const RankPlace& rank) { return rank.node == node; });
  std::map<NodeId, ProcessorSet> of_nodes;  // of that kernel
  for (const RankPlace& rank : ranks) {
    if (rank.kernel == own->kernel) {
      of_nodes[rank.node] |= rank.processors;
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
  return {.usable = static_cast<std::int32_t>(usable.count()),
          .share = static_cast<std::int32_t>(share + rounding)};
}

}  // namespace tessera::rma::detail
