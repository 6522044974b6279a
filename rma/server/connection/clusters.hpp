// SPDX-License-Identifier: BSD-3-Clause
//
// Clusters: which agents share the requests of all processes (cooperative server clustering,
// [CLUSTERED10] §3.2). A cluster consists of consecutive nodes, and all clusters have nearly the
// same size. A process connects to one agent of each cluster, its intermediary, which passes its
// requests on to the other agents of that cluster. So an agent serves connections of only 1/size of
// all processes.
#pragma once

#include <cstdint>

#include "rma/base/rank.hpp"

namespace tessera::rma::server {

class Clusters {
 public:
  /// No clusters: each agent serves all processes.
  Clusters() noexcept = default;
  /// Divides `nodes` into clusters of `size`, or of one node fewer if `size` does not divide their
  /// number. A size of 1 means no clusters.
  Clusters(std::int32_t nodes, std::int64_t size) noexcept;

  /// The size that server_cluster=0 selects: 1 below 512 nodes, else near the square root
  /// of the number of nodes. At that size an agent has about as many connections to agents as a
  /// process has to clusters.
  [[nodiscard]] static std::int64_t chosen_size(std::int32_t nodes) noexcept;

  [[nodiscard]] bool are_on() const noexcept { return count_ < nodes_; }
  [[nodiscard]] std::int32_t count() const noexcept { return count_; }
  [[nodiscard]] bool are_together(NodeId a, NodeId b) const noexcept {
    return cluster_of(a) == cluster_of(b);
  }
  /// The number of agents that can pass on requests from a process of node `own` to `target`.
  [[nodiscard]] std::int32_t choices(NodeId own, NodeId target) const noexcept;
  /// The agent that passes on requests of rank `origin`; `failed` is the number of agents that have
  /// failed, and each selects the next one. The result may be the target itself. Requires:
  /// choices() > 0.
  [[nodiscard]] NodeId intermediary(WorldRank origin, NodeId own, NodeId target,
                                    std::int32_t failed = 0) const noexcept;

 private:
  [[nodiscard]] std::int32_t cluster_of(NodeId node) const noexcept;
  [[nodiscard]] std::int32_t first_of(std::int32_t cluster) const noexcept;

  std::int32_t nodes_ = 1;
  std::int32_t count_ = 1;
};

}  // namespace tessera::rma::server
