// SPDX-License-Identifier: BSD-3-Clause
//
// Which processors a node's ranks have, for those who wait and who start threads: a rank's own
// affinity mask doesn't tell where a launcher has bound each rank to a core, nor that other nodes,
// emulated ones or containers, run on the same kernel and may use the same processors. A control
// group may give less time than they have.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "rma/control_group.hpp"
#include "rma/rank.hpp"

namespace tessera::rma::detail {

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

}  // namespace tessera::rma::detail
