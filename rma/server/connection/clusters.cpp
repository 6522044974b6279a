// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/connection/clusters.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::rma::server {

Clusters::Clusters(std::int32_t nodes, std::int64_t size) noexcept
    : nodes_(std::max(nodes, 1)),
      count_(static_cast<std::int32_t>((nodes_ + std::max<std::int64_t>(size, 1) - 1) /
                                       std::max<std::int64_t>(size, 1))) {}

std::int64_t Clusters::chosen_size(std::int32_t nodes) noexcept {
  constexpr std::int32_t min_nodes = 512;
  return nodes < min_nodes ? 1 : std::llround(std::sqrt(static_cast<double>(nodes)));
}

std::int32_t Clusters::first_of(std::int32_t cluster) const noexcept {
  return static_cast<std::int32_t>(std::int64_t{cluster} * nodes_ / count_);
}

// The last cluster that begins at or before the node.
std::int32_t Clusters::cluster_of(NodeId node) const noexcept {
  return static_cast<std::int32_t>(((std::int64_t{node.value} + 1) * count_ - 1) / nodes_);
}

std::int32_t Clusters::choices(NodeId own, NodeId target) const noexcept {
  const std::int32_t cluster = cluster_of(target);
  const std::int32_t members = first_of(cluster + 1) - first_of(cluster);
  return members - (are_together(own, target) ? 1 : 0);
}

NodeId Clusters::intermediary(WorldRank origin, NodeId own, NodeId target,
                              std::int32_t failed) const noexcept {
  const std::int32_t first = first_of(cluster_of(target));
  const auto chosen =
      static_cast<std::int32_t>((std::int64_t{origin.value} + failed) % choices(own, target));
  const NodeId member{first + chosen};
  // The own node is not among the choices: later members move down by one.
  return are_together(own, target) && member.value >= own.value ? NodeId{member.value + 1} : member;
}

}  // namespace tessera::rma::server
