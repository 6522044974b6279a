// SPDX-License-Identifier: BSD-3-Clause
//
// NodeMap: which rank runs on which node. Kept as runs of consecutive ranks: if a launcher fills
// nodes one after the other, there is one run per node.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rma/base/rank.hpp"

namespace tessera::rma::detail {

class NodeMap {
 public:
  /// `keys[r]` names the machine of rank r; ranks with equal keys share a node. If `ranks_per_node`
  /// > 0, each machine's ranks are split further, in rank order, into emulated nodes of that size.
  NodeMap(std::span<const std::uint64_t> keys, std::int64_t ranks_per_node);

  [[nodiscard]] std::int32_t count() const noexcept { return count_; }
  [[nodiscard]] NodeId node_of(WorldRank rank) const noexcept;
  /// The ranks of a node, ascending. Cost: O(log runs + ranks of the node).
  [[nodiscard]] std::vector<WorldRank> ranks_of(NodeId node) const;
  /// The lowest rank of a node. Cost: O(log runs).
  [[nodiscard]] WorldRank first_rank_of(NodeId node) const noexcept;

 private:
  struct Run {
    std::int32_t first = 0;
    std::int32_t end = 0;
    NodeId node;
  };
  [[nodiscard]] std::vector<std::uint32_t>::const_iterator runs_of(NodeId node) const noexcept;
  std::vector<Run> runs_;               ///< by rank
  std::vector<std::uint32_t> by_node_;  ///< indices into runs_, by node, then by rank
  std::int32_t count_ = 0;
};

}  // namespace tessera::rma::detail
