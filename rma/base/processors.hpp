// SPDX-License-Identifier: BSD-3-Clause
//
// Which processors the ranks of a node have. Code that waits or starts threads needs it. A rank's
// own affinity mask is not enough: a launcher may bind each rank to a core, and other nodes
// (emulated ones or containers) may run on the same kernel and use the same processors. A control
// group may allow less time than the processors have. Also for tools.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "rma/base/control_group.hpp"
#include "rma/base/rank.hpp"

namespace tessera::rma {

/// By their numbers. Processors from number 1024 on are ignored.
using ProcessorSet = std::bitset<1024>;
static_assert(std::is_trivially_copyable_v<ProcessorSet>);

/// Those that the calling process may run on.
ProcessorSet own_processors() noexcept;

/// What each rank publishes about where it runs.
struct RankLocation {
  std::uint64_t kernel =
      0;  ///< equal on ranks of one running kernel, which have the same processors
  NodeId node;
  ProcessorSet processors;
  ProcessorQuota quota = {};
  std::int32_t threads = 1;        ///< compute threads: announced_threads()
  std::int32_t agent_threads = 1;  ///< of its node's agent, if it runs in this rank's process
};

struct NodeProcessors {
  /// Processors that any rank of the node may use. At most as many as the quotas of its control
  /// groups allow, but at least one.
  std::int32_t usable = 1;
  /// The same, but processors that several nodes use are divided equally, rounded down: two nodes
  /// that may both use two have one each, three nodes have none. Quotas are divided in the same
  /// way.
  std::int32_t share = 1;
};

/// The processors of a node. Requires: one of `ranks` is on it, and all its ranks are on one
/// kernel.
NodeProcessors processors_of(NodeId node, std::span<const RankLocation> ranks);

/// Whether a node's agent has processors that no rank needs.
struct AgentProcessors {
  bool is_dedicated = false;
  std::string reason;  ///< "4 processors for 2 threads of ranks and 2 of agents"
};

/// For the agent of a node, which may run on the same processors as the node's first rank. They are
/// spare if each thread of each rank and of each agent can have a processor of its own, and if the
/// quota of the agent's control group covers all threads of that group. Counts the ranks of the
/// same kernel that share processors with this agent, directly or through others, and the ranks of
/// its control group.
/// Requires: as processors_of(); `ranks` are in rank order.
AgentProcessors processors_for_agent(NodeId node, std::span<const RankLocation> ranks);

/// The number of threads that a rank computes with: `setting` (TESSERA_BLAS_THREADS) if it is
/// given, else the greater of the numbers at the start of `openblas` and `omp`
/// (OPENBLAS_NUM_THREADS, OMP_NUM_THREADS), else 1.
std::int32_t announced_threads(std::int64_t setting, std::string_view openblas,
                               std::string_view omp) noexcept;

}  // namespace tessera::rma
