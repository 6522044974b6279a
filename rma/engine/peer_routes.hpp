// SPDX-License-Identifier: BSD-3-Clause
//
// PeerRoutes: the transports and endpoints by which operations reach each peer, and fences on them.
//
// A route is made at the first operation on a peer, and exists until the job ends.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <atomic>
#include <memory>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"
#include "rma/engine/operation.hpp"
#include "rma/transport/transport.hpp"

namespace tessera::rma::detail {

class JobState;

/// The transport and the endpoint by which operations reach one peer.
struct Route {
  Transport* transport = nullptr;
  std::unique_ptr<Endpoint> endpoint;
};

class PeerRoutes {
 public:
  explicit PeerRoutes(JobState& job) noexcept : job_(job) {}

  /// The route to `peer`. Errors: invalid_argument (no such rank), closed, unreachable.
  Result<Route*> to(WorldRank peer);
  /// The route for accumulates and atomics on a region with remote updates. Errors: as to().
  Result<Route*> update_to(WorldRank peer);

  /// True if a fence of these ranks finds nothing to wait for. Cost: a load, in most jobs.
  [[nodiscard]] bool are_fenced(const TargetRanks& ranks, RegionId region) const noexcept {
    return !has_routes_to_fence_.load(std::memory_order_acquire) || is_fenced_again(ranks, region);
  }
  /// Completes at the target what this rank did there through routes.
  Status fence(const TargetRanks& ranks, RegionId region);

 private:
  /// A rank and its endpoint.
  struct RankEndpoint {
    WorldRank rank;
    Endpoint* endpoint;
  };
  using Table = std::unordered_map<WorldRank, Route>;

  [[nodiscard]] Route* find(Table& table, WorldRank peer);
  Route* add(Table& table, WorldRank peer, Route made);
  Result<Route> make(WorldRank peer);
  [[nodiscard]] bool is_fenced_again(const TargetRanks& ranks, RegionId region) const noexcept;
  [[nodiscard]] std::vector<RankEndpoint> endpoints_to_fence(const TargetRanks& ranks,
                                                             RegionId region);
  Status fence_endpoints(const std::vector<RankEndpoint>& endpoints, RegionId region);

  JobState& job_;
  std::shared_mutex mutex_;
  std::atomic<bool> has_routes_to_fence_{false};
  std::atomic<const Table::value_type*> last_fenced_{nullptr};  ///< of the last fence of one rank
  Table all_;
  Table for_updates_;  ///< to ranks of this node that all_ reaches by another transport
};

}  // namespace tessera::rma::detail
