// SPDX-License-Identifier: BSD-3-Clause
#include "rma/base/processors.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <vector>

namespace tessera::rma {

ProcessorSet own_processors() noexcept {
  cpu_set_t own;
  CPU_ZERO(&own);
  const bool is_known = sched_getaffinity(0, sizeof own, &own) == 0;
  // Fails if a mask has more bits than the set, and in sandboxes; such processes are not bound.
  const auto online = static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  ProcessorSet set;
  for (std::size_t at = 0; at < set.size(); ++at) {
    set.set(at, is_known ? CPU_ISSET(at, &own) != 0 : at < online);
  }
  return set;
}

namespace {

/// The quotas of a node's control groups, in processors.
struct NodeQuota {
  double all = std::numeric_limits<double>::infinity();
  double share = all;  ///< if each group's quota is divided equally among its nodes
};

// Requires: `ranks` are select of one kernel.
NodeQuota quota_of(NodeId node, std::span<const RankLocation* const> ranks) {
  std::map<std::uint64_t, std::set<NodeId>> nodes_of_groups;
  std::map<std::uint64_t, double> quotas;  // of the groups of `node`
  for (const RankLocation* rank : ranks) {
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

NodeProcessors processors_of(NodeId node, std::span<const RankLocation> ranks) {
  const auto own = std::find_if(ranks.begin(), ranks.end(),
                                [&](const RankLocation& rank) { return rank.node == node; });
  std::map<NodeId, ProcessorSet> of_nodes;  // nodes of that kernel
  std::vector<const RankLocation*> on_kernel;
  for (const RankLocation& rank : ranks) {
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
  constexpr double rounding = 1e-6;  // tolerance for thirds etc., of at most 1024
  const NodeQuota quota = quota_of(node, on_kernel);
  const double all = std::min(static_cast<double>(usable.count()), std::max(quota.all, 1.0));
  return {.usable = static_cast<std::int32_t>(all + rounding),
          .share = static_cast<std::int32_t>(std::min(share, quota.share) + rounding)};
}

namespace {

// Assigns each thread a processor of its own among select that it may use.
class Placement {
 public:
  /// False if there is none for it, even after moving others.
  bool assign(const ProcessorSet& usable) {
    threads_.push_back(&usable);
    tried_.reset();
    return find_for(threads_.size() - 1);
  }

 private:
  bool find_for(std::size_t thread) {
    const ProcessorSet& usable = *threads_[thread];
    const ProcessorSet free = usable & ~taken_;
    for (std::size_t at = 0; at < free.size(); ++at) {
      if (free.test(at)) {
        taken_.set(at);
        thread_on_[at] = thread;
        return true;
      }
    }
    for (std::size_t at = 0; at < usable.size(); ++at) {
      if (usable.test(at) && !tried_.test(at)) {
        tried_.set(at);
        if (find_for(thread_on_[at])) {
          thread_on_[at] = thread;
          return true;
        }
      }
    }
    return false;
  }

  std::vector<const ProcessorSet*> threads_;
  std::vector<std::size_t> thread_on_ = std::vector<std::size_t>(ProcessorSet().size());
  ProcessorSet taken_;
  ProcessorSet tried_;
};

// Counts of the ranks' threads, and of the threads of agents in their processes.
struct ThreadCounts {
  std::int64_t ranks = 0;
  std::int64_t agents = 0;
  [[nodiscard]] std::int64_t all() const noexcept { return ranks + agents; }
};

std::string plural(std::int64_t number, std::string_view thing) {
  return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
}

std::string text_of(const ThreadCounts& users) {
  return fmt::format("{} of ranks and {} of agents", plural(users.ranks, "thread"), users.agents);
}

// A rank of the kernel, and the number of threads of the agent in its process.
struct KernelRank {
  const RankLocation* rank;
  std::int32_t agent_threads;  ///< 0: it is not the first rank of its node
};

std::vector<KernelRank> neighbours_of(const RankLocation& host,
                                      std::span<const RankLocation> ranks) {
  std::vector<KernelRank> found;
  std::set<NodeId> nodes;
  for (const RankLocation& rank : ranks) {
    if (rank.kernel == host.kernel) {
      found.push_back({&rank, nodes.insert(rank.node).second ? rank.agent_threads : 0});
    }
  }
  return found;
}

// The processors of ranks that share some with `host`, directly or through others.
ProcessorSet connected_processors(const RankLocation& host,
                                  std::span<const KernelRank> neighbours) {
  ProcessorSet all = host.processors;
  for (std::size_t before = 0; before != all.count();) {
    before = all.count();
    for (const KernelRank& each : neighbours) {
      if ((each.rank->processors & all).any()) {
        all |= each.rank->processors;
      }
    }
  }
  return all;
}

template <class Counts>
std::vector<KernelRank> select(std::span<const KernelRank> neighbours, Counts&& counts) {
  std::vector<KernelRank> found;
  std::copy_if(neighbours.begin(), neighbours.end(), std::back_inserter(found),
               [&](const KernelRank& each) { return counts(*each.rank); });
  return found;
}

ThreadCounts count_threads(std::span<const KernelRank> neighbours) {
  ThreadCounts users;
  for (const KernelRank& each : neighbours) {
    users.ranks += each.rank->threads;
    users.agents += each.agent_threads;
  }
  return users;
}

// Requires: not more threads than processors.
bool can_assign_all(std::span<const KernelRank> neighbours) {
  Placement placement;
  for (const KernelRank& each : neighbours) {
    for (std::int32_t i = 0; i < each.rank->threads + each.agent_threads; ++i) {
      if (!placement.assign(each.rank->processors)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

AgentProcessors processors_for_agent(NodeId node, std::span<const RankLocation> ranks) {
  const RankLocation& host = *std::find_if(
      ranks.begin(), ranks.end(), [&](const RankLocation& rank) { return rank.node == node; });
  const std::vector<KernelRank> neighbours = neighbours_of(host, ranks);
  if (host.quota.processors > 0) {
    const ThreadCounts users = count_threads(select(neighbours, [&](const RankLocation& rank) {
      return rank.quota.processors > 0 && rank.quota.group == host.quota.group;
    }));
    if (static_cast<double>(users.all()) > host.quota.processors) {
      return {false, fmt::format("a control group allows the time of {:.3g} processors for {}",
                                 host.quota.processors, text_of(users))};
    }
  }
  const ProcessorSet processors = connected_processors(host, neighbours);
  const std::vector<KernelRank> sharing = select(
      neighbours, [&](const RankLocation& rank) { return (rank.processors & processors).any(); });
  const ThreadCounts users = count_threads(sharing);
  const auto count = static_cast<std::int64_t>(processors.count());
  const std::string numbers = fmt::format("{} for {}", plural(count, "processor"), text_of(users));
  if (users.all() > count) {
    return {false, numbers};
  }
  const bool is_dedicated = can_assign_all(sharing);
  return {is_dedicated,
          is_dedicated ? numbers
                       : numbers + ", but ranks are bound to processors that an agent may use"};
}

std::int32_t announced_threads(std::int64_t setting, std::string_view openblas,
                               std::string_view omp) noexcept {
  if (setting > 0) {
    return static_cast<std::int32_t>(setting);
  }
  std::int32_t most = 1;
  for (const std::string_view text : {openblas, omp}) {
    std::int32_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    most = std::max(most, number);
  }
  return most;
}

}  // namespace tessera::rma
