// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/job_state.hpp"

#include <fmt/format.h>

#include <chrono>
#include <span>
#include <string>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/engine/node_context.hpp"

namespace tessera::rma::detail {

JobState::JobState(Settings settings, std::shared_ptr<Bootstrap> bootstrap, NodeMap nodes,
                   JobLayout layout)
    : JobIdentity(std::move(settings), std::move(bootstrap), std::move(nodes), std::move(layout)),
      slices_(*this),
      transports_(*this),
      outstanding_(static_cast<std::size_t>(this->settings().max_outstanding)),
      reserve_(16'384 + static_cast<std::size_t>(size()) * bytes_of_member, this),
      routes_(*this) {}

Status JobState::enter_node(std::shared_ptr<Node> node) {
  fork_guard_.emplace(*this);
  node_ = std::move(node);
  TESSERA_RETURN_IF_ERROR(node_->enter());
  return slices_.make_tables(*node_);
}

Status JobState::make_transports(const std::vector<TransportFactory>& factories) {
  return transports_.make(factories, transport_context());
}

TransportContext JobState::transport_context() {
  TransportContext context;
  context.rank = rank();
  context.size = size();
  context.settings = &settings();
  context.nodes = std::make_shared<const NodeContext>(
      NodeContext{.node = node_,
                  .stripes = &slices_.stripes(),
                  .map = &nodes(),
                  .machines = layout().machines,
                  .agent_processors = layout().agent_processors,
                  .communicator = bootstrap().mpi_communicator()});
  context.exchange = [this](std::span<const std::byte> mine) {
    return bootstrap().allgather(mine, std::chrono::milliseconds(settings().start_timeout_ms));
  };
  context.defer_error = [this](Status error) { outstanding_.defer_error(std::move(error)); };
  context.log = &log();
  context.warn = [this](const std::string& line) { log().warning(line); };
  return context;
}

Status JobState::make_world() {
  std::vector<WorldRank> everybody;
  for (std::int32_t rank = 0; rank < size(); ++rank) {
    everybody.push_back(WorldRank{rank});
  }
  // The job owns its world team, so the world team does not own the job.
  TESSERA_ASSIGN_OR_RETURN(auto world, TeamState::create(*this, nullptr, everybody));
  world_ = Team(std::move(world));
  return {};
}

void JobState::log_phases() {
  if (settings().profile != "off" || settings().check != "off") {
    phases_ = std::make_shared<PhaseLog>();
  }
}

void JobState::set_profile(std::unique_ptr<ProfileOwner> profile) noexcept {
  slices_.counters().count_regions(phases_);
  profile_ = std::move(profile);
  recorder_ = &profile_->recorder();
  recorder_->set_phases(phases_);
  phases_->record_in(*recorder_);
}

Status JobState::check_rank(WorldRank peer) const {
  if (peer.value >= 0 && peer.value < size()) {
    return {};
  }
  return Status::error(
      Code::invalid_argument,
      fmt::format("there is no rank {}: the job has ranks 0 to {}", peer.value, size() - 1));
}

Status JobState::check_running() const {
  return is_stopped() ? stopped_error() : Status();
}

Status JobState::stopped_error() const {
  return is_in_forked_child()
             ? Status::error(
                   Code::closed,
                   fmt::format("this process is a child that rank {} made by fork(), not a rank",
                               rank().value))
                   .hint("let the rank's own process do it; the child can ask that process")
             : Status::error(Code::closed, "the job was stopped");
}

Status JobState::fence(const TargetRanks& ranks, RegionId region) {
  const bool is_running = !is_stopped();
  if (is_running && !outstanding_.concerns_fences() && routes_.are_fenced(ranks, region)) {
    std::atomic_thread_fence(std::memory_order_seq_cst);  // as below
    if (recorder_ != nullptr) [[unlikely]] {
      recorder_->record_done(Wait::fence);
    }
    return {};
  }
  return catch_bad_alloc(
      [&] { return is_running ? complete_and_fence(ranks, region) : stopped_error(); },
      "this process has no memory for a fence: earlier operations may be incomplete");
}

Status JobState::complete_and_fence(const TargetRanks& ranks, RegionId region) {
  const WaitScope wait(recorder_, Wait::fence);
  Status first = outstanding_.complete_adopted(ranks);
  Status deferred = outstanding_.take_deferred_error();
  if (first.ok()) {
    first = std::move(deferred);
  }
  // Loads and stores of this thread come before all that it does after the fence.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  Status fenced = routes_.fence(ranks, region);
  first = first.ok() ? std::move(fenced) : std::move(first);
  // The fence may return after operations before it were refused; this fence reports their errors.
  Status refused = outstanding_.take_deferred_error();
  return first.ok() ? std::move(refused) : std::move(first);
}

Status JobState::stop() {
  if (is_stopped()) {
    return {};
  }
  Status last = fence(TargetRanks::all());
  flush_counts();
  if (phases_ != nullptr) {
    phases_->close();
  }
  if (profile_ != nullptr) {
    recorder_->close();
    profile_->finish(*this);
  }
  stopped_.store(true);
  if (profile_ != nullptr) {
    profile_->release();
  }
  if (world_) {
    world_.state().release_staging();
  }
  slices_.regions().clear();
  node_->leave();
  teams_.stop_threads();
  transports_.leave();
  bootstrap().leave();
  transports_.stop();
  return last;
}

void JobState::close_in_forked_child() noexcept {
  stopped_.store(true);
  slices_.regions().abandon_in_child();
  leaked_in_child_ = weak_from_this().lock();
}

Membership::~Membership() {
  if (const Status status = state_->stop(); !status.ok()) {
    state_->log().line(LogLevel::warning, [&] { return "stopping the job: " + status.message(); });
  }
}

}  // namespace tessera::rma::detail
