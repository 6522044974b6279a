// SPDX-License-Identifier: BSD-3-Clause
#include "rma/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <future>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/base/thread_limit.hpp"
#include "rma/engine/job_state.hpp"
#include "rma/engine/named.hpp"
#include "rma/engine/region_state.hpp"
#include "rma/engine/slice_cache.hpp"
#include "rma/engine/startup.hpp"
#include "rma/profile/session.hpp"
#include "rma/protocol/raw_address.hpp"

namespace tessera::rma {
namespace {

using detail::JobState;
using detail::TargetRanks;

}  // namespace

Result<Job> Job::start(JobOptions options) {
  return detail::catch_bad_alloc([&]() -> Result<Job> {
    std::vector<TransportFactory> factories = detail::own_transports();
    factories.insert(factories.end(), options.transports.begin(), options.transports.end());
    TESSERA_ASSIGN_OR_RETURN(auto state, detail::start_job(std::move(options.bootstrap),
                                                           std::move(options.settings), factories));
    state->log_phases();
    if (state->settings().profile != "off") {
      TESSERA_RETURN_IF_ERROR(
          detail::ProfileSession::start(*state).context("starting the profile"));
    }
    return Job(std::move(state));
  });
}

Job::Job(std::shared_ptr<JobState> state)
    : state_(std::move(state)),
      membership_(std::make_shared<detail::Membership>(state_)),
      phases_(state_->phases()) {}

Job Job::unowned(JobState& state) {
  Job job;
  job.state_ = state.weak_from_this().lock();
  job.phases_ = state.phases();
  return job;
}

Status Job::stop() {
  return state_->name_rank(state_->stop());
}

WorldRank Job::rank() const noexcept {
  return state_->rank();
}
Status Job::name_rank(Status status) const noexcept {
  return state_ ? state_->name_rank(std::move(status)) : std::move(status);
}
std::int32_t Job::size() const noexcept {
  return state_->size();
}
Team& Job::world() const noexcept {
  return state_->world();
}
std::int32_t Job::node_count() const noexcept {
  return state_->nodes().count();
}
NodeId Job::node_of(WorldRank rank) const noexcept {
  return state_->nodes().node_of(rank);
}
const std::vector<WorldRank>& Job::node_ranks() const noexcept {
  return state_->node().ranks();
}
std::int32_t Job::node_processors() const noexcept {
  return state_->layout().processors.usable;
}
std::int32_t Job::node_processor_share() const noexcept {
  return state_->layout().processors.share;
}
const Settings& Job::settings() const noexcept {
  return state_->settings();
}
Log& Job::log() const noexcept {
  return state_->log();
}
Bootstrap& Job::bootstrap() const noexcept {
  return state_->bootstrap();
}

bool Job::shares_node(WorldRank rank) const noexcept {
  return state_->node().local_rank_of(rank) >= 0;
}

bool Job::is_present(WorldRank rank) const {
  const int local_rank = state_->node().local_rank_of(rank);
  if (local_rank < 0 && state_->link() != nullptr && !state_->is_in_forked_child()) {
    return !state_->link()->is_gone(rank);
  }
  return local_rank < 0 || !state_->node().is_gone(local_rank);
}

Result<std::string_view> Job::transport_to(WorldRank rank) {
  return detail::named(*state_, [&]() -> Result<std::string_view> {
    TESSERA_ASSIGN_OR_RETURN(const detail::Route* route, state_->routes().to(rank));
    return route->transport->name();
  });
}

Status Job::wait_all() {
  return detail::named(*state_, [&]() -> Status {
    return state_->outstanding().complete_adopted(TargetRanks::all());
  });
}

Status Job::wait_rank(WorldRank rank) {
  return detail::named(*state_, [&]() -> Status {
    return state_->outstanding().complete_adopted(TargetRanks::one(rank));
  });
}

Status Job::fence_all() {
  return state_->name_rank(state_->fence(TargetRanks::all()));
}

Status Job::fence(WorldRank rank) {
  return detail::named(*state_, [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(state_->check_rank(rank));
    return state_->fence(TargetRanks::one(rank));
  });
}

int Job::progress() {
  // Without memory, the next call or a wait tries again.
  const int arrived =
      detail::catch_bad_alloc([this] { return state_->transports().progress(); }, [] { return 0; });
  const detail::ProgressScope progress(state_->node().progress_delegate());
  progress.advance();
  return arrived;
}

Status Job::barrier() {
  // Enters the barrier even if the fence failed, maybe for an old operation: the others wait there.
  Status fenced = fence_all();
  if (state_->is_stopped()) {
    return fenced;
  }
  Status synchronised = state_->world().barrier();
  return fenced.ok() ? std::move(synchronised) : std::move(fenced);
}

OrderObserver* Job::order_observer() const noexcept {
  return state_->observers().current();
}

OrderObserver& Job::observe_order(std::unique_ptr<OrderObserver> observer) {
  return state_->observers().set(std::move(observer));
}

Result<RemoteAddress> Job::translate(WorldRank rank, const void* pointer) const {
  return detail::named(*state_, [&]() -> Result<RemoteAddress> {
    const detail::CachedLocation location = find_or_fill(*state_, {rank, pointer});
    if (location.slice != nullptr && location.offset < location.slice->bytes) {
      return RemoteAddress{rank, location.slice->region(), location.offset};
    }
    TESSERA_RETURN_IF_ERROR(state_->check_rank(rank));
    const RegionId region = state_->slices().addresses().find(pointer);
    const detail::RegionState* const found = state_->slices().regions().find(region);
    if (found == nullptr) {
      TESSERA_RETURN_IF_ERROR(state_->check_running());
      return Status::error_at(
          rank, Code::out_of_range,
          fmt::format("address {} of rank {} lies in no region", pointer, rank.value));
    }
    return found->translate(rank, static_cast<const std::byte*>(pointer));
  });
}

Result<void*> Job::raw_pointer(const RemoteAddress& at) const {
  return detail::named(*state_, [&]() -> Result<void*> {
    detail::RegionState* const region = state_->slices().regions().find(at.region);
    if (region == nullptr) {
      return Status::error(Code::closed, fmt::format("region {} is not known on rank {}",
                                                     at.region.value, state_->rank().value));
    }
    const TeamRank member = region->team_state().team_rank(at.rank);
    if (member.value < 0) {
      return Status::error(Code::invalid_argument, fmt::format("rank {} has no slice of region {}",
                                                               at.rank.value, at.region.value));
    }
    TESSERA_ASSIGN_OR_RETURN(std::byte* const slice, region->raw_pointer(member));
    return static_cast<void*>(slice + at.offset);
  });
}

Result<void*> Job::allocate_local(std::size_t bytes) {
  return detail::named(*state_, [&]() -> Result<void*> {
    TESSERA_RETURN_IF_ERROR(state_->check_running());
    return state_->local_memory().allocate(state_->node(), bytes);
  });
}

Status Job::free_local(void* memory) {
  return detail::named(*state_, [&]() -> Status {
    if (memory == nullptr) {
      return {};
    }
    if (state_->is_in_forked_child()) {
      return state_->check_running();
    }
    return state_->local_memory().free(state_->node(), memory);
  });
}

Traffic Job::traffic() const {
  detail::flush_counts();
  return state_->slices().counters().traffic();
}

std::vector<std::string> transport_names() {
  std::vector<std::string> names;
  for (const TransportFactory& each : detail::own_transports()) {
    names.push_back(each.name);
  }
  return names;
}

std::vector<TransportDescription> describe_transports(const Settings& settings) {
  std::vector<TransportDescription> descriptions;
  for (const TransportFactory& each : detail::own_transports()) {
    if (each.describe != nullptr) {
      descriptions.push_back({each.name, each.describe(settings)});
    }
  }
  return descriptions;
}

namespace {

/// Threads that all begin together or not at all, because a rank waits for all others.
class ThreadStart {
 public:
  ThreadStart() = default;
  ThreadStart(const ThreadStart&) = delete;
  ThreadStart& operator=(const ThreadStart&) = delete;
  ~ThreadStart() {
    if (!is_open_) {
      gate_.set_value(false);
    }
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }

  /// Throws std::system_error if the system gives no further thread.
  void add(std::function<void()> body) {
    threads_.emplace_back([body = std::move(body), begins = begins_] {
      if (begins.get()) {
        body();
      }
    });
  }
  void begin() {
    is_open_ = true;
    gate_.set_value(true);
  }
  [[nodiscard]] std::size_t size() const noexcept { return threads_.size(); }

 private:
  std::promise<bool> gate_;
  std::shared_future<bool> begins_ = gate_.get_future().share();
  bool is_open_ = false;
  std::vector<std::thread> threads_;
};

Status run_each(std::int32_t ranks, const std::function<Status(Job&)>& body,
                const ThreadRunOptions& options) {
  ThreadGroup group(ranks);
  std::vector<Status> results(static_cast<std::size_t>(ranks));
  std::vector<JobOptions> of_ranks;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    of_ranks.push_back({.bootstrap = group.member(WorldRank{rank}),
                        .settings = options.settings,
                        .transports = options.transports});
  }
  {
    ThreadStart threads;
    try {
      for (std::int32_t rank = 0; rank < ranks; ++rank) {
        threads.add([&, rank] {
          const auto at = static_cast<std::size_t>(rank);
          auto job = Job::start(std::move(of_ranks[at]));
          results[at] = job.ok() ? body(*job) : job.status();
        });
      }
    } catch (const std::system_error& error) {
      return Status::error(
                 Code::limit_exceeded,
                 fmt::format("cannot start thread {} of {}: {}; {}", threads.size() + 1, ranks,
                             error.code().message(), detail::thread_limit().reason))
          .hint("use fewer ranks, or raise ulimit -u, ulimit -v or the control group's pids limit");
    }
    threads.begin();
  }
  const auto failed =
      std::find_if(results.begin(), results.end(), [](const Status& each) { return !each.ok(); });
  return failed == results.end() ? Status() : *failed;
}

}  // namespace

Status check_thread_count(std::int64_t ranks) {
  if (ranks < 1) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{} ranks; there must be at least one", ranks));
  }
  const detail::ThreadLimit limit = detail::thread_limit();
  if (static_cast<std::uint64_t>(ranks) <= limit.most) {
    return {};
  }
  return Status::error(Code::limit_exceeded,
                       fmt::format("{} ranks as threads are more than the {} that this process "
                                   "may have: {}",
                                   ranks, limit.most, limit.reason))
      .hint(limit.hint);
}

Status run_on_threads(std::int32_t ranks, const std::function<Status(Job&)>& body,
                      const ThreadRunOptions& options) {
  TESSERA_RETURN_IF_ERROR(check_thread_count(ranks));
  return detail::catch_bad_alloc([&] { return run_each(ranks, body, options); },
                                 "no memory for that many ranks as threads");
}

}  // namespace tessera::rma
