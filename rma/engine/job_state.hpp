// SPDX-License-Identifier: BSD-3-Clause
//
// JobState: everything that belongs to one rank's Job. Its members are the parts of the engine. Its
// own functions need several of these parts: routes to peers, waits, fences, and the end of the
// job.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "rma/bootstrap.hpp"
#include "rma/engine/accumulate_tickets.hpp"
#include "rma/engine/address_table.hpp"
#include "rma/engine/counter_store.hpp"
#include "rma/engine/fork_guard.hpp"
#include "rma/engine/long_wait.hpp"
#include "rma/transport/control_channel.hpp"
#include "rma/engine/node_map.hpp"
#include "rma/engine/operation.hpp"
#include "rma/engine/region_table.hpp"
#include "rma/engine/slice_cache.hpp"
#include "rma/engine/stripes.hpp"
#include "rma/engine/team_state.hpp"
#include "rma/base/log.hpp"
#include "rma/node/node.hpp"
#include "rma/order_observer.hpp"
#include "rma/base/processors.hpp"
#include "rma/profile/recorder.hpp"
#include "rma/profile/session.hpp"
#include "rma/transport/transport.hpp"
#include "rma/tuning.hpp"

namespace tessera::rma::detail {

/// Memory that is freed when memory runs out, so that this rank can still report that to the
/// others.
class MemoryReserve {
 public:
  explicit MemoryReserve(std::size_t bytes)
      : bytes_(bytes), memory_(std::make_unique<std::byte[]>(bytes)) {}
  void give() noexcept {
    const std::lock_guard guard(mutex_);
    memory_.reset();
  }
  /// Takes the memory back if it can be allocated.
  void refill() noexcept {
    const std::lock_guard guard(mutex_);
    if (memory_ == nullptr) {
      memory_.reset(new (std::nothrow) std::byte[bytes_]);
    }
  }

 private:
  std::mutex mutex_;
  std::size_t bytes_;
  std::unique_ptr<std::byte[]> memory_;
};

/// The transport and the endpoint by which operations reach one peer.
struct Route {
  Transport* transport = nullptr;
  std::unique_ptr<Endpoint> endpoint;
};

/// A rank and its endpoint.
struct RankEndpoint {
  WorldRank rank;
  Endpoint* endpoint;
};

class JobState {
 public:
  JobState(Settings chosen, std::shared_ptr<Bootstrap> start, NodeMap map)
      : settings(std::move(chosen)),
        bootstrap(std::move(start)),
        rank(bootstrap->rank()),
        size(bootstrap->size()),
        log(LogLevel::warning, rank),
        nodes(std::move(map)),
        outstanding(static_cast<std::size_t>(settings.max_outstanding)),
        reserve(16'384 + static_cast<std::size_t>(size) * bytes_of_member) {}

  /// Makes the transports that `settings.transport` names, in that order.
  /// Errors: invalid_argument for a name that no factory has.
  Status make_transports(const std::vector<TransportFactory>& factories);

  /// Errors: closed if the job was stopped.
  [[nodiscard]] Status check_running() const;
  /// The error of operations on a stopped job: closed. Says so if this process is a child of a
  /// rank.
  [[nodiscard]] Status stopped_error() const;
  /// Errors: invalid_argument if the job has no such rank.
  [[nodiscard]] Status check_rank(WorldRank peer) const;

  /// The route to `peer`, made at the first call. Errors: invalid_argument (no such rank), closed,
  /// unreachable.
  Result<Route*> route_to(WorldRank peer);
  /// The route for accumulates and atomics on a region with remote updates. Errors: as route_to().
  Result<Route*> update_route_to(WorldRank peer);

  /// The calling thread's cache entry for `owner`'s slice of `region`, filled if necessary. It has
  /// no start if the slice is not a plain mapped one. Null if there is no such region, while the
  /// thread ends, and if there is no memory for its cache.
  [[gnu::always_inline]] CachedSlice* cached_slice(WorldRank owner, RegionId region) const {
    CachedSlice* const line = find_cached(regions, owner, region);
    return line != nullptr ? line : look_up_slice(owner, region);
  }
  /// The locks of an entry's slice; none if the program has promised that it needs none.
  [[nodiscard]] StripeLocks::Slice stripes_of(const CachedSlice& line) const noexcept {
    const StripeLocks::Slice locked = stripes->slice(line.region(), line.rank());
    return line.has_conflicts ? locked : locked.without_locks();
  }
  /// The cache entry in which operations on `owner` that touch no slice are counted; null as above.
  [[nodiscard]] CachedSlice* counting_entry(WorldRank owner) const noexcept;

  /// Remembers how to reach a slice of another node in the calling thread's cache entry, if all
  /// kinds of operations may use this route.
  void cache_route(const RemoteAddress& at, const RegionState& region, Endpoint& endpoint,
                   const Target& target) const;

  /// Advances non-blocking operations on all transports. Returns how many ended.
  int progress();
  /// Sleeps until something has moved or the time is over. Returns done.done().
  bool wait(Completion& done, std::chrono::nanoseconds nap);
  /// Waits until no operation of `done` is under way. The log reports a long wait in the words of
  /// `wanted`.
  void complete(Completion& done, const WaitedFor& wanted);
  /// The same, and returns the error of `done`.
  Status finish(Completion& done, const WaitedFor& wanted);
  /// Non-blocking operations were started: see Transport::stir.
  void wake_progress();

  /// Draws a number for memory that other ranks name, unique in the job. 0: all numbers are
  /// exhausted.
  RegionId draw_region_id() noexcept;
  /// Makes a piece of this node's memory known to other nodes, under a new number.
  /// Errors: limit_exceeded, no_memory. Requires: link is set.
  Result<RegionId> publish(const PublishedMemory& piece);

  /// See Job::name_rank. The second takes a call's value or its error.
  [[nodiscard]] Status name_rank(Status status) const noexcept {
    return status.ok() || size == 1 ? std::move(status) : std::move(status).failing_on(rank);
  }
  template <class T>
  [[nodiscard]] Result<T> name_rank(Result<T> result) const noexcept {
    if (result.ok()) [[likely]] {
      return result;
    }
    return name_rank(std::move(result).status());
  }

  /// See Job::stop.
  Status stop();
  /// Called when the process exits without stopping a profiled job; is_success is its exit status.
  void finish_profile_at_exit(bool is_success);
  /// In a child made by fork(). Closes the job as stop() does, but sends nothing to other ranks,
  /// waits for no thread, and never destroys the job. Operations that were under way are closed.
  void close_in_forked_child() noexcept;
  /// True in such a child: only the parent may free what lies in shared memory.
  [[nodiscard]] bool is_in_forked_child() const noexcept { return leaked_in_child != nullptr; }

  /// Completes at the target what this rank did at these ranks, in `region` or in all regions.
  Status fence(const TargetRanks& ranks, RegionId region = any_region);

  /// Called by operations, besides collectives, that order this rank's operations and other ranks'.
  void report_order() const noexcept {
    if (OrderObserver* const watching = observer.load(std::memory_order_acquire)) [[unlikely]] {
      watching->on_order();
    }
  }

  std::weak_ptr<JobState> self;  ///< for objects of the user that must keep the job alive
  std::shared_ptr<JobState> leaked_in_child;  ///< itself, for ever, in a child made by fork()
  Settings settings;
  std::shared_ptr<Bootstrap> bootstrap;
  WorldRank rank;
  std::int32_t size;
  Log log;
  NodeMap nodes;
  Status passed_over;  ///< why a transport that the settings name is not used: the first reason
  int machines = 1;    ///< number of machines; fewer than nodes if nodes are emulated
  /// The ranks that are in another PID namespace than the first rank of their node, ascending.
  std::vector<WorldRank> other_pid_namespace;
  NodeProcessors processors;
  AgentProcessors agent_processors;
  std::shared_ptr<Node> node;
  std::unique_ptr<NodeControlChannel> link;  ///< to other nodes; null if there is only one
  std::optional<StripeLocks> stripes;
  std::vector<std::unique_ptr<Transport>> transports;  ///< in order of preference
  // the one that connects nodes, and is notified of incoming messages
  Transport* waking = nullptr;
  RegionTable regions;
  std::unique_ptr<AddressTable> addresses;
  std::shared_ptr<CounterStore> counters = std::make_shared<CounterStore>();
  std::unique_ptr<ProfileSession> profile;  ///< null in jobs that are not profiled
  Recorder* recorder = nullptr;             ///< the profile's
  /// Is notified of what orders this rank's operations; null in most jobs. Set once, then kept
  /// until its owner destroys it.
  std::atomic<OrderObserver*> observer{nullptr};
  std::unique_ptr<OrderObserver> observer_owner;
  std::mutex observer_mutex;
  Outstanding outstanding;
  /// The operation of every handle for which there was no memory.
  std::shared_ptr<Operation> without_memory =
      std::make_shared<Operation>(this, Operation::WithoutMemory());
  MemoryReserve reserve;  ///< enough for a team of all ranks
  Team world_team;
  std::unique_ptr<AccumulateTickets> accumulate_turns;  ///< null unless origins accumulate
  std::atomic<bool> stopped{false};
  std::optional<ForkGuard> fork_guard;  ///< set during start-up

  std::mutex local_memory_mutex;
  std::unordered_map<const void*, std::uint64_t> local_memory;  ///< address → bytes

 private:
  // that a rank needs for each member of a team, at most
  static constexpr std::size_t bytes_of_member = 128;

  TransportContext transport_context();
  [[nodiscard]] bool is_fenced_again(const TargetRanks& ranks, RegionId region) const noexcept;
  [[nodiscard]] std::vector<RankEndpoint> endpoints_to_fence(const TargetRanks& ranks,
                                                             RegionId region);
  Status complete_and_fence(const TargetRanks& ranks, RegionId region);
  Status fence_endpoints(const std::vector<RankEndpoint>& endpoints, RegionId region);
  Result<Route> make_route(WorldRank peer);
  using Routes = std::unordered_map<WorldRank, Route>;
  [[nodiscard]] Route* find_route(Routes& routes, WorldRank peer);
  Route* add_route(Routes& routes, WorldRank peer, Route made);
  CachedSlice* look_up_slice(WorldRank owner, RegionId region) const noexcept;

  std::shared_mutex routes_mutex_;
  std::atomic<bool> has_routes_to_fence_{false};
  /// The route of the last fence of one rank; routes exist until the job ends.
  std::atomic<const Routes::value_type*> last_fenced_{nullptr};
  Routes routes_;
  Routes update_routes_;  ///< to ranks of this node that routes_ reaches by another transport
};

/// Shared by a job's handles: destroying the last one stops the job.
class Membership {
 public:
  explicit Membership(std::shared_ptr<JobState> state) : state_(std::move(state)) {}
  ~Membership();
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

 private:
  std::shared_ptr<JobState> state_;
};

}  // namespace tessera::rma::detail
