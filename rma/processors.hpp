// SPDX-License-Identifier: BSD-3-Clause
//
// Which processors a node's ranks have, for those who wait and who start threads: a rank's own
// affinity mask doesn't tell where a launcher has bound each rank to a core, nor that other nodes,
// emulated ones or containers, run on the same kernel and may use the same processors. A control
// group may give less time than they have. For tools, too.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "rma/control_group.hpp"
#include "rma/rank.hpp"

namespace tessera::rma {

/// By their numbers. Those from 1024 on don't count.
using ProcessorSet = std::bitset<1024>;
static_assert(std::is_trivially_copyable_v<ProcessorSet>);

/// Those that the calling process may run on.
ProcessorSet own_processors() noexcept;

/// What a rank says of where it runs.
struct RankPlace {
  std::uint64_t kernel =
      0;  ///< equal for ranks of one running kernel, whose processors are the same
  NodeId node;
  ProcessorSet processors;
  ProcessorQuota quota = {};
  std::int32_t threads = 1;        ///< that compute: announced_threads()
  std::int32_t agent_threads = 1;  ///< of its node's agent, if that lives in this rank's process
};

struct NodeProcessors {
  /// By any rank of the node. At most as many as the quotas of its control groups give, but one.
  std::int32_t usable = 1;
  /// The same, but of those that several nodes may use only an equal part, rounded down: two nodes
  /// that may both use two have one each, three have none. Quotas are shared in the same way.
  std::int32_t share = 1;
};

/// Those of a node. Requires: one of `ranks` is on it, and all its ranks are on one kernel.
NodeProcessors processors_of(NodeId node, std::span<const RankPlace> ranks);

/// Whether a node's agent has processors that no rank needs.
struct AgentProcessors {
  bool are_spare = false;
  std::string reason;  ///< "4 processors for 2 threads of ranks and 2 of agents"
};

/// For the agent of a node, which runs where the node's first rank may run. They are spare if each
/// thread of each rank and of each agent can have a processor of its own, and if the quota of the
/// agent's control group covers all that it is for. Counted are the ranks of the kernel that this
/// agent shares processors with, directly or through others, and those of its control group.
/// Requires: as processors_of(); `ranks` are in rank order.
AgentProcessors processors_for_agent(NodeId node, std::span<const RankPlace> ranks);

/// How many threads a rank computes with: `setting` (TESSERA_BLAS_THREADS) if it is given, else the
/// number that `openblas` or `omp` begins with (OPENBLAS_NUM_THREADS, OMP_NUM_THREADS), the greater
/// one; else 1.
std::int32_t announced_threads(std::int64_t setting, std::string_view openblas,
                               std::string_view omp) noexcept;

}  // namespace tessera::rma
