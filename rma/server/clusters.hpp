// SPDX-License-Identifier: BSD-3-Clause
//
// Clusters: which agents share the requests of all processes (cooperative server clustering,
// [CLUSTERED10] §3.2). Consecutive nodes form a cluster; all are of nearly the same size. A
// process has a connection to one agent of each cluster, the intermediary, which passes its
// requests on to the others of that cluster: so an agent hears 1/size of all processes.
#pragma once

#include <cstdint>

#include "rma/rank.hpp"

namespace tessera::rma::server {

class Clusters {
 public:
  /// None: each agent hears all processes.
  Clusters() noexcept = default;
  /// Clusters of `size` of the `nodes`, or of one fewer where that doesn't divide. Of 1: none.
  Clusters(std::int32_t nodes, std::int64_t size) noexcept;

  /// What TESSERA_SERVER_CLUSTER=0 stands for: 1 below 512 nodes, else near the root of their
  /// number, at which an agent has about as many connections to agents as a process has to
  /// clusters.
  [[nodiscard]] static std::int64_t chosen_size(std::int32_t nodes) noexcept;

  [[nodiscard]] bool are_on() const noexcept { return count_ < nodes_; }
  [[nodiscard]] std::int32_t count() const noexcept { return count_; }
  [[nodiscard]] bool are_together(NodeId a, NodeId b) const noexcept {
    return cluster_of(a) == cluster_of(b);
  }
  /// How many agents may pass on what a process of node `own` has to say to `target`.
  [[nodiscard]] std::int32_t choices(NodeId own, NodeId target) const noexcept;
  /// The one of them that does so for rank `origin`; others in turn where `turn` have failed.
  /// It may be the target itself. Requires: choices() > 0.
  [[nodiscard]] NodeId intermediary(WorldRank origin, NodeId own, NodeId target,
                                    std::int32_t turn = 0) const noexcept;

 private:
  [[nodiscard]] std::int32_t cluster_of(NodeId node) const noexcept;
  [[nodiscard]] std::int32_t first_of(std::int32_t cluster) const noexcept;

  std::int32_t nodes_ = 1;
  std::int32_t count_ = 1;
};

}  // namespace tessera::rma::server
