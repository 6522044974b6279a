// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/job_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/engine/access.hpp"
#include "rma/engine/region_state.hpp"
#include "rma/base/backoff.hpp"

namespace tessera::rma::detail {

TransportContext JobState::transport_context() {
  TransportContext context;
  context.rank = rank;
  context.size = size;
  context.settings = &settings;
  context.node = node.get();
  context.stripes = &*stripes;
  context.shared_node = node;
  context.nodes = &nodes;
  context.machines = machines;
  context.communicator = bootstrap->mpi_communicator();
  context.agent_processors = agent_processors;
  context.exchange = [this](std::span<const std::byte> mine) {
    return bootstrap->allgather(mine, std::chrono::milliseconds(settings.start_timeout_ms));
  };
  context.defer_error = [this](Status error) { outstanding.defer_error(std::move(error)); };
  context.log = &log;
  context.warn = [this](const std::string& line) { log.warning(line); };
  return context;
}

// Skips transports that are unsupported here, as long as another one is left.
Status JobState::make_transports(const std::vector<TransportFactory>& factories) {
  TransportContext context = transport_context();
  for (const std::string_view name : split_names(settings.transport)) {
    const auto factory =
        std::find_if(factories.begin(), factories.end(),
                     [&](const TransportFactory& each) { return each.name == name; });
    if (factory == factories.end()) {
      std::string known;
      for (const TransportFactory& each : factories) {
        known += (known.empty() ? "" : ", ") + each.name;
      }
      return Status::error(Code::invalid_argument,
                           fmt::format("TESSERA_TRANSPORT names '{}'; there are {}", name, known));
    }
    auto transport = factory->create(context);
    if (!transport.ok()) {
      Status status =
          std::move(transport).status().context(fmt::format("starting transport {}", name));
      if (status.code() != Code::unsupported) {
        return status;
      }
      if (rank.value == 0) {
        log.info(status.message());
      }
      passed_over = passed_over.ok() ? std::move(status) : std::move(passed_over);
      continue;
    }
    transports.push_back(std::move(transport).take());
    context.has_memory = true;
    if (link == nullptr) {
      link = transports.back()->node_link();
      waking = link == nullptr ? nullptr : transports.back().get();
      context.are_connected = link != nullptr;
    }
  }
  if (transports.empty()) {
    return !passed_over.ok()
               ? passed_over
               : Status::error(Code::invalid_argument, "TESSERA_TRANSPORT names no transport");
  }
  return {};
}

Status JobState::check_rank(WorldRank peer) const {
  if (peer.value >= 0 && peer.value < size) {
    return {};
  }
  return Status::error(
      Code::invalid_argument,
      fmt::format("there is no rank {}: the job has ranks 0 to {}", peer.value, size - 1));
}

Status JobState::check_running() const {
  return stopped.load() ? stopped_error() : Status();
}

Status JobState::stopped_error() const {
  return is_in_forked_child()
             ? Status::error(
                   Code::closed,
                   fmt::format("this process is a child that rank {} made by fork(), not a rank",
                               rank.value))
                   .hint("let the rank's own process do it; the child can ask that process")
             : Status::error(Code::closed, "the job was stopped");
}

Result<Route*> JobState::route_to(WorldRank peer) {
  TESSERA_RETURN_IF_ERROR(check_running());
  if (Route* const known = find_route(routes_, peer)) {
    return known;
  }
  TESSERA_RETURN_IF_ERROR(check_rank(peer));
  // Not under the lock: a peer that doesn't answer delays only the threads that want it. If two
  // threads make the same route, one of the two is discarded.
  TESSERA_ASSIGN_OR_RETURN(Route made, make_route(peer));
  return add_route(routes_, peer, std::move(made));
}

Result<Route*> JobState::update_route_to(WorldRank peer) {
  if (node->local_rank_of(peer) < 0) {
    return route_to(peer);
  }
  TESSERA_RETURN_IF_ERROR(check_running());
  if (Route* const known = find_route(update_routes_, peer)) {
    return known;
  }
  TESSERA_ASSIGN_OR_RETURN(auto endpoint, waking->connect(peer));
  return add_route(update_routes_, peer, Route{waking, std::move(endpoint)});
}

Route* JobState::find_route(Routes& routes, WorldRank peer) {
  const std::shared_lock guard(routes_mutex_);
  const auto known = routes.find(peer);
  return known == routes.end() ? nullptr : &known->second;
}

Route* JobState::add_route(Routes& routes, WorldRank peer, Route made) {
  const std::lock_guard guard(routes_mutex_);
  Route* const route = &routes.try_emplace(peer, std::move(made)).first->second;
  if (!route->transport->capabilities().always_fenced) {
    has_routes_to_fence_.store(true);
  }
  return route;
}

Result<Route> JobState::make_route(WorldRank peer) {
  for (const auto& transport : transports) {
    if (!transport->reaches(peer)) {
      continue;
    }
    auto endpoint = transport->connect(peer);
    if (!endpoint.ok()) {
      return std::move(endpoint).status().at(peer).context(
          fmt::format("connecting to rank {} by {}", peer.value, transport->name()));
    }
    return Route{transport.get(), std::move(endpoint).take()};
  }
  return Status::error_at(peer, Code::unreachable,
                          fmt::format("no transport of {} reaches rank {} on node {}",
                                      settings.transport, peer.value, nodes.node_of(peer).value))
      .hint("add tcp to TESSERA_TRANSPORT");
}

CachedSlice* JobState::look_up_slice(WorldRank owner, RegionId region) const noexcept {
  if (stopped.load(std::memory_order_relaxed)) {
    return nullptr;
  }
  if (CachedSlice* const line = find_to_retarget(regions, owner, region)) {
    const RegionState* const found = regions.find(region);
    if (found == nullptr) {
      return nullptr;
    }
    if (counters->regions() != nullptr) {
      flush_counts(*line);
    }
    line->retarget(region, found->plain_slice(owner));
    remote_of(*line) = {nullptr, nullptr, {}, remote_of(*line).route};
    return line;
  }
  auto epoch = regions.shared_epoch();
  const RegionState* const found = regions.find(region);
  return found == nullptr
             ? nullptr
             : fill_cached(std::move(epoch), counters, owner, region, found->plain_slice(owner));
}

void JobState::cache_route(const RemoteAddress& at, const RegionState& region, Endpoint& endpoint,
                           const Target& target) const {
  const bool is_for_all = node->local_rank_of(at.rank) < 0 && accumulate_turns == nullptr &&
                          recorder == nullptr && region.atomics() == Atomics::separate &&
                          allows_all(region.options().access_mode);
  CachedSlice* const line = is_for_all ? cached_slice(at.rank, at.region) : nullptr;
  if (line != nullptr) {
    remote_of(*line) = {&endpoint, target.segment, target.rank, remote_of(*line).route};
  }
}

CachedSlice* JobState::counting_entry(WorldRank owner) const noexcept {
  CachedSlice* const line = find_cached(regions, owner, no_region);
  return line != nullptr ? line
                         : fill_cached(regions.shared_epoch(), counters, owner, no_region, {});
}

RegionId JobState::draw_region_id() noexcept {
  // Each node counts for itself, in steps of the number of nodes. The counter stops at the end: a
  // repeated number would name two pieces of memory. The last number is reserved for the server.
  std::atomic<std::uint32_t>& last = node->memory().header().last_region;
  const auto count = static_cast<std::uint64_t>(nodes.count());
  const auto own = static_cast<std::uint64_t>(nodes.node_of(rank).value);
  std::uint32_t drawn = last.load();
  std::uint64_t id = 0;
  do {
    id = drawn * count + own + 1;
    if (id >= std::numeric_limits<std::uint32_t>::max()) {
      return RegionId{0};
    }
  } while (!last.compare_exchange_weak(drawn, drawn + 1));
  return RegionId{static_cast<std::uint32_t>(id)};
}

Result<RegionId> JobState::publish(const PublishedMemory& piece) {
  const RegionId memory = draw_region_id();
  if (memory.value == 0) {
    return Status::error(Code::limit_exceeded,
                         fmt::format("all {} region numbers of this job are exhausted",
                                     std::numeric_limits<std::uint32_t>::max()));
  }
  TESSERA_RETURN_IF_ERROR(link->publish(memory, piece));
  return memory;
}

Status JobState::stop() {
  if (stopped.load()) {
    return {};
  }
  Status last = fence(TargetRanks::all());
  if (accumulate_turns != nullptr) {
    accumulate_turns->settle();
  }
  flush_counts();
  if (profile != nullptr) {
    recorder->close();
    profile->finish(*this);
  }
  stopped.store(true);
  if (profile != nullptr) {
    profile->release();
  }
  regions.clear();
  node->leave();
  for (const auto& transport : transports) {
    transport->leave();
  }
  bootstrap->leave();
  for (const auto& transport : transports) {
    transport->stop();
  }
  return last;
}

void JobState::finish_profile_at_exit(bool is_success) {
  flush_counts();
  recorder->close();
  profile->finish_at_exit(*this, is_success);
}

void JobState::close_in_forked_child() noexcept {
  stopped.store(true);
  regions.abandon_in_child();
  leaked_in_child = self.lock();
}

Membership::~Membership() {
  if (const Status status = state_->stop(); !status.ok()) {
    state_->log.warning("stopping the job: " + status.message());
  }
}

bool JobState::wait(Completion& done, std::chrono::nanoseconds timeout) {
  return waking != nullptr ? waking->wait(done, timeout) : done.wait_for(timeout);
}

// Short sleeps at first: some transports advance only when progress() is called.
void JobState::complete(Completion& done, const WaitedFor& wanted) {
  constexpr std::chrono::microseconds first_timeout{50};
  Backoff timeout(first_timeout, max_timed_wait);
  std::optional<LongWait> long_wait;  // most waits end before it is needed
  while (!done.done()) {
    if (is_in_forked_child()) [[unlikely]] {
      done.end(Status::error(Code::closed, "only the parent of this process can wait for it"));
    } else if (progress() == 0 && !wait(done, timeout.next())) {
      LongWait& told = long_wait ? *long_wait : long_wait.emplace(settings);
      report_if_long(told, log, [&] { return wanted.describe(); });
    }
  }
}

Status JobState::finish(Completion& done, const WaitedFor& wanted) {
  complete(done, wanted);
  return done.take_error();
}

void JobState::wake_progress() {
  if (waking != nullptr) {
    waking->wake_progress();
  }
}

int JobState::progress() {
  if (is_in_forked_child()) [[unlikely]] {
    return 0;
  }
  int ended = 0;
  for (const auto& transport : transports) {
    ended += transport->progress();
  }
  return ended;
}

Status JobState::fence(const TargetRanks& ranks, RegionId region) {
  if (stopped.load(std::memory_order_relaxed)) {
    return stopped_error();
  }
  if (!outstanding.concerns_fences() &&
      (!has_routes_to_fence_.load(std::memory_order_acquire) || is_fenced_again(ranks, region))) {
    std::atomic_thread_fence(std::memory_order_seq_cst);  // as below
    if (recorder != nullptr) [[unlikely]] {
      recorder->record_done(Wait::fence);
    }
    return {};
  }
  return catch_bad_alloc(
      [&] { return complete_and_fence(ranks, region); },
      "this process has no memory for a fence: earlier operations may be incomplete");
}

// Without a lock: the route is the one that was fenced last. A separate function, so that jobs
// without such routes need no room for it.
[[gnu::noinline]] bool JobState::is_fenced_again(const TargetRanks& ranks,
                                                 RegionId region) const noexcept {
  const auto only = ranks.only();
  const auto* const last = last_fenced_.load(std::memory_order_acquire);
  return only && last != nullptr && last->first == *only &&
         last->second.endpoint->is_fenced(region);
}

Status JobState::complete_and_fence(const TargetRanks& ranks, RegionId region) {
  const WaitScope wait(recorder, Wait::fence);
  Status first = outstanding.complete_adopted(ranks);
  Status deferred = outstanding.take_deferred_error();
  if (first.ok()) {
    first = std::move(deferred);
  }
  // Loads and stores of this thread come before all that it does after the fence.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const std::vector<RankEndpoint> endpoints = endpoints_to_fence(ranks, region);
  Status fenced = endpoints.empty() ? Status() : fence_endpoints(endpoints, region);
  first = first.ok() ? std::move(fenced) : std::move(first);
  // The fence may return after operations before it were refused; this fence reports their errors.
  Status refused = outstanding.take_deferred_error();
  return first.ok() ? std::move(refused) : std::move(first);
}

// Begins with the rank after this one, so that not all ranks ask the same peer at once
// ([CLUSTERS02] §5).
std::vector<RankEndpoint> JobState::endpoints_to_fence(const TargetRanks& ranks, RegionId region) {
  std::vector<std::pair<std::int32_t, Endpoint*>> found;
  const auto add_unless_fenced = [&](const auto& known) {
    const auto& [peer, route] = known;
    if (!route.endpoint->is_fenced(region)) {
      found.emplace_back((peer.value - rank.value + size) % size, route.endpoint.get());
    }
  };
  {
    const std::shared_lock guard(routes_mutex_);
    if (const auto only = ranks.only()) {
      if (const auto known = routes_.find(*only); known != routes_.end()) {
        last_fenced_.store(&*known, std::memory_order_release);
        add_unless_fenced(*known);
      }
    } else {
      for (const auto& known : routes_) {
        if (ranks.has(known.first)) {
          add_unless_fenced(known);
        }
      }
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<RankEndpoint> endpoints;
  std::transform(found.begin(), found.end(), std::back_inserter(endpoints), [&](const auto& each) {
    return RankEndpoint{WorldRank{(each.first + rank.value) % size}, each.second};
  });
  return endpoints;
}

// Several at once: a peer's reply takes time, and the next peer can be asked meanwhile.
Status JobState::fence_endpoints(const std::vector<RankEndpoint>& endpoints, RegionId region) {
  struct Fence {
    explicit Fence(WorldRank of) noexcept : rank(of) { done.begin(); }
    WorldRank rank;
    Completion done;
  };
  const auto window = static_cast<std::size_t>(settings.fence_window);
  Status first;
  std::deque<Fence> under_way;
  const auto finish_oldest = [&] {
    Status status =
        finish(under_way.front().done, {"a fence of what was sent to", under_way.front().rank});
    under_way.pop_front();
    first = first.ok() ? std::move(status) : std::move(first);
  };
  for (const auto& [peer, endpoint] : endpoints) {
    if (endpoint->is_fenced(region)) {
      continue;  // fenced with another rank of its node
    }
    const Status begun = catch_bad_alloc([&, to = peer]() -> Status {
      under_way.emplace_back(to);
      return {};
    });
    if (!begun.ok()) {
      first = first.ok() ? begun : std::move(first);
      break;
    }
    Completion& done = under_way.back().done;
    if (Status status = catch_bad_alloc([&, by = endpoint] { return by->start_fence(done); });
        !status.ok()) {
      done.end(std::move(status));
    }
    if (under_way.size() == window) {
      finish_oldest();
    }
  }
  while (!under_way.empty()) {
    finish_oldest();
  }
  return first;
}

}  // namespace tessera::rma::detail
