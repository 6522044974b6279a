// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/peer_routes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <mutex>
#include <utility>

#include "rma/engine/job_state.hpp"

namespace tessera::rma::detail {

Result<Route*> PeerRoutes::to(WorldRank peer) {
  TESSERA_RETURN_IF_ERROR(job_.check_running());
  if (Route* const known = find(all_, peer)) {
    return known;
  }
  TESSERA_RETURN_IF_ERROR(job_.check_rank(peer));
  // Not under the lock: a peer that doesn't answer delays only the threads that want it. If two
  // threads make the same route, one of the two is discarded.
  TESSERA_ASSIGN_OR_RETURN(Route made, make(peer));
  return add(all_, peer, std::move(made));
}

Result<Route*> PeerRoutes::update_to(WorldRank peer) {
  if (job_.node().local_rank_of(peer) < 0) {
    return to(peer);
  }
  TESSERA_RETURN_IF_ERROR(job_.check_running());
  if (Route* const known = find(for_updates_, peer)) {
    return known;
  }
  Transport* const between_nodes = job_.transports().between_nodes();
  TESSERA_ASSIGN_OR_RETURN(auto endpoint, between_nodes->data().connect(peer));
  return add(for_updates_, peer, Route{between_nodes, std::move(endpoint)});
}

Route* PeerRoutes::find(Table& table, WorldRank peer) {
  const std::shared_lock guard(mutex_);
  const auto known = table.find(peer);
  return known == table.end() ? nullptr : &known->second;
}

Route* PeerRoutes::add(Table& table, WorldRank peer, Route made) {
  const std::lock_guard guard(mutex_);
  Route* const route = &table.try_emplace(peer, std::move(made)).first->second;
  if (!route->transport->capabilities().always_fenced) {
    has_routes_to_fence_.store(true);
  }
  return route;
}

Result<Route> PeerRoutes::make(WorldRank peer) {
  for (const auto& transport : job_.transports().all()) {
    if (!transport->data().reaches(peer)) {
      continue;
    }
    auto endpoint = transport->data().connect(peer);
    if (!endpoint.ok()) {
      return std::move(endpoint).status().at(peer).context(
          fmt::format("connecting to rank {} by {}", peer.value, transport->name()));
    }
    return Route{transport.get(), std::move(endpoint).take()};
  }
  return Status::error_at(
             peer, Code::unreachable,
             fmt::format("no transport of {} reaches rank {} on node {}", job_.settings().transport,
                         peer.value, job_.nodes().node_of(peer).value))
      .hint("add tcp to TESSERA_TRANSPORT");
}

// Without a lock: the route is the one that was fenced last. A separate function, so that jobs
// without such routes need no room for it.
[[gnu::noinline]] bool PeerRoutes::is_fenced_again(const TargetRanks& ranks,
                                                   RegionId region) const noexcept {
  const auto only = ranks.only();
  const auto* const last = last_fenced_.load(std::memory_order_acquire);
  return only && last != nullptr && last->first == *only &&
         last->second.endpoint->is_fenced(region);
}

Status PeerRoutes::fence(const TargetRanks& ranks, RegionId region) {
  const std::vector<RankEndpoint> endpoints = endpoints_to_fence(ranks, region);
  return endpoints.empty() ? Status() : fence_endpoints(endpoints, region);
}

// Begins with the rank after this one, so that not all ranks ask the same peer at once
// ([CLUSTERS02] §5).
std::vector<PeerRoutes::RankEndpoint> PeerRoutes::endpoints_to_fence(const TargetRanks& ranks,
                                                                     RegionId region) {
  const std::int32_t self = job_.rank().value;
  const std::int32_t size = job_.size();
  std::vector<std::pair<std::int32_t, Endpoint*>> found;
  const auto add_unless_fenced = [&](const auto& known) {
    const auto& [peer, route] = known;
    if (!route.endpoint->is_fenced(region)) {
      found.emplace_back((peer.value - self + size) % size, route.endpoint.get());
    }
  };
  {
    const std::shared_lock guard(mutex_);
    if (const auto only = ranks.only()) {
      if (const auto known = all_.find(*only); known != all_.end()) {
        last_fenced_.store(&*known, std::memory_order_release);
        add_unless_fenced(*known);
      }
    } else {
      for (const auto& known : all_) {
        if (ranks.has(known.first)) {
          add_unless_fenced(known);
        }
      }
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<RankEndpoint> endpoints;
  std::transform(found.begin(), found.end(), std::back_inserter(endpoints), [&](const auto& each) {
    return RankEndpoint{WorldRank{(each.first + self) % size}, each.second};
  });
  return endpoints;
}

namespace {

/// Fences that were started. The destructor waits for them.
class StartedFences {
 public:
  explicit StartedFences(TransportList& transports) : transports_(transports) {}
  StartedFences(const StartedFences&) = delete;
  StartedFences& operator=(const StartedFences&) = delete;
  ~StartedFences() { finish().ignore("the exception says more"); }

  [[nodiscard]] std::size_t size() const noexcept { return under_way_.size(); }
  void start(WorldRank rank, Endpoint& endpoint) {
    Completion& done = under_way_.emplace_back(rank).done;
    BegunPart part(done);
    part.hand_over(endpoint.start_fence(done));
  }
  void finish_oldest() {
    Fence& oldest = under_way_.front();
    Status status = transports_.finish(oldest.done, {"a fence of what was sent to", oldest.rank});
    under_way_.pop_front();
    first_ = first_.ok() ? std::move(status) : std::move(first_);
  }
  /// Returns the first error of all.
  Status finish() {
    while (!under_way_.empty()) {
      finish_oldest();
    }
    return std::move(first_);
  }

 private:
  struct Fence {
    explicit Fence(WorldRank of) noexcept : rank(of) {}
    WorldRank rank;
    Completion done;
  };
  TransportList& transports_;
  std::deque<Fence> under_way_;
  Status first_;
};

}  // namespace

// Several at once: a peer's reply takes time, and the next peer can be asked meanwhile.
Status PeerRoutes::fence_endpoints(const std::vector<RankEndpoint>& endpoints, RegionId region) {
  const auto window = static_cast<std::size_t>(job_.settings().fence_window);
  StartedFences fences(job_.transports());
  for (const auto& [peer, endpoint] : endpoints) {
    if (endpoint->is_fenced(region)) {
      continue;  // fenced with another rank of its node
    }
    fences.start(peer, *endpoint);
    if (fences.size() == window) {
      fences.finish_oldest();
    }
  }
  return fences.finish();
}

}  // namespace tessera::rma::detail
