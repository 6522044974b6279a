// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/mpi/segment.hpp"

#include <algorithm>
#include <utility>

#include "rma/engine/node_context.hpp"
#include "rma/engine/team_state.hpp"

namespace tessera::rma::mpi {

/// What each member sends before an allocation.
struct WindowPool::Proposal {
  std::uint64_t bytes = 0;
  std::uint64_t number = 0;  ///< of the team's windows as far as this member knows; 0: none
  // For new windows; the first member's values are used.
  std::uint64_t proposed_number = 0;
  std::uint64_t keeps_one = 0;
};

WindowPool::WindowPool(std::shared_ptr<World> world, const TransportContext& context,
                       EpochMode epoch_mode, std::function<void(const Window&)> before_free)
    : world_(std::move(world)), epoch_mode_(epoch_mode), before_free_(std::move(before_free)) {
  const detail::NodeContext& nodes = detail::nodes_of(context);
  source_.node = nodes.node.get();
  source_.is_one_machine = nodes.machines == 1;
}

std::uint64_t WindowPool::draw_number() noexcept {
  constexpr unsigned rank_shift = 32;
  return (std::uint64_t{static_cast<std::uint32_t>(world_->rank().value)} << rank_shift) +
         reserved_numbers_.fetch_add(1) + 1;
}

WindowPool::Proposal WindowPool::proposal_of(const Team& team, Use use, TeamWindows*& known) {
  const std::lock_guard guard(mutex_);
  const auto found = by_team_.find({team.shared_state(), use});
  known = found == by_team_.end() ? nullptr : found->second.get();
  const bool is_kept = std::any_of(by_team_.begin(), by_team_.end(), [&](const auto& each) {
    return each.first.use == use && each.second->keeps_one();
  });
  return {.number = known == nullptr ? 0 : known->number(),
          .proposed_number = draw_number(),
          .keeps_one = is_kept ? 0U : 1U};
}

Result<TeamWindows*> WindowPool::windows_of(Team& team, Use use, std::size_t bytes,
                                            std::vector<std::uint64_t>& sizes) {
  const EpochMode epoch_mode = use == Use::regions        ? epoch_mode_
                               : use == Use::atomic_locks ? EpochMode::lock_all
                                                          : EpochMode::per_operation;
  TeamWindows* known = nullptr;
  Proposal proposal = proposal_of(team, use, known);
  proposal.bytes = bytes;
  TESSERA_ASSIGN_OR_RETURN(const std::vector<Proposal> proposals, team.allgather_value(proposal));
  std::transform(proposals.begin(), proposals.end(), std::back_inserter(sizes),
                 [](const Proposal& each) { return each.bytes; });
  const Proposal& first = proposals.front();
  const bool all_know = std::all_of(proposals.begin(), proposals.end(), [&](const Proposal& each) {
    return each.number != 0 && each.number == first.number;
  });
  if (all_know) {
    return known;
  }
  TESSERA_ASSIGN_OR_RETURN(
      auto created,
      TeamWindows::create(world_, team, {first.proposed_number, epoch_mode, first.keeps_one != 0}));
  const std::lock_guard guard(mutex_);
  std::unique_ptr<TeamWindows>& entry = by_team_[{team.shared_state(), use}];
  entry = std::move(created);
  return entry.get();
}

// Collective. Done once for each team.
Result<detail::RemoteLocks*> WindowPool::mutexes_of(Team& team, TeamWindows& windows) {
  const bool are_needed = epoch_mode_ == EpochMode::per_operation ||
                          world_->library().small_sums_saturate ||
                          world_->library().exposed_windows_break || !world_->mixes_atomics();
  if (!are_needed || make_mutexes_ == nullptr) {
    return static_cast<detail::RemoteLocks*>(nullptr);
  }
  if (windows.mutexes() == nullptr) {
    TESSERA_ASSIGN_OR_RETURN(windows.mutexes(), make_mutexes_(team));
  }
  return windows.mutexes().get();
}

Result<std::unique_ptr<WindowSegment>> WindowPool::allocate(MemoryTransport* memory, Team& team,
                                                            std::size_t bytes,
                                                            const RegionOptions& options, Use use) {
  std::vector<std::uint64_t> sizes;
  sizes.reserve(static_cast<std::size_t>(team.size()));
  TESSERA_ASSIGN_OR_RETURN(TeamWindows * windows, windows_of(team, use, bytes, sizes));
  detail::RemoteLocks* mutexes = nullptr;
  if (use == Use::regions) {
    TESSERA_ASSIGN_OR_RETURN(mutexes, mutexes_of(team, *windows));
  }
  MemorySource source = source_;
  source.transport = memory;
  TESSERA_ASSIGN_OR_RETURN(const WindowPart part, windows->take(team, sizes, options, source));
  std::unique_ptr<WindowSegment> segment(new WindowSegment(
      shared_from_this(), *windows, source, part, bytes,
      {options.access_mode, options.conflicts, options.atomics, team.rank().value}, mutexes));
  if (use == Use::regions) {
    add_local_memory(*segment, bytes);
  }
  return segment;
}

Result<std::unique_ptr<WindowSegment>> WindowPool::expose(Team& team,
                                                          std::unique_ptr<Segment> inner,
                                                          std::byte* memory, std::size_t bytes,
                                                          const RegionOptions& options) {
  std::vector<std::uint64_t> sizes;
  sizes.reserve(static_cast<std::size_t>(team.size()));
  TESSERA_ASSIGN_OR_RETURN(TeamWindows * windows, windows_of(team, Use::regions, bytes, sizes));
  TESSERA_ASSIGN_OR_RETURN(detail::RemoteLocks * mutexes, mutexes_of(team, *windows));
  TESSERA_ASSIGN_OR_RETURN(
      const WindowPart part,
      windows->expose(team, memory, bytes, std::move(inner), options.access_mode));
  std::unique_ptr<WindowSegment> segment(new WindowSegment(
      shared_from_this(), *windows, source_, part, bytes,
      {options.access_mode, options.conflicts, options.atomics, team.rank().value}, mutexes));
  add_local_memory(*segment, bytes);
  return segment;
}

void WindowPool::add_local_memory(const WindowSegment& segment, std::size_t bytes) {
  const bool is_staged = staging_ == Staging::all_windows ||
                         (staging_ == Staging::separate_windows && !segment.window().is_unified());
  if (is_staged && !segment.window().is_lock_all()) {
    local_windows_->add(segment.local(), bytes, segment.window(), segment.options_.own_rank);
  }
}

Status WindowPool::free_part(TeamWindows& windows, const WindowPart& part,
                             const MemorySource& source) {
  before_free_(*part.shared->window);
  Status freed = windows.free_part(part, source);
  if (!windows.is_empty()) {
    return freed;
  }
  // Communicators are also limited: all members are here, and free it together.
  decltype(by_team_)::node_type removed;
  {
    const std::lock_guard guard(mutex_);
    const auto found = std::find_if(by_team_.begin(), by_team_.end(), [&](const auto& each) {
      return each.second.get() == &windows;
    });
    if (found == by_team_.end()) {
      return freed;
    }
    removed = by_team_.extract(found);
  }
  if (removed.mapped()->mutexes() != nullptr) {
    Status mutexes_freed = removed.mapped()->mutexes()->free();
    freed = freed.ok() ? std::move(mutexes_freed) : std::move(freed);
  }
  removed.mapped()->close();
  return freed;
}

// In an order that is the same on all ranks.
void WindowPool::close() noexcept {
  const std::lock_guard guard(mutex_);
  TeamWindows* next = nullptr;
  for (std::uint64_t from = 0;; from = next->number() + 1) {
    next = nullptr;
    for (const auto& [key, windows] : by_team_) {
      const std::uint64_t number = windows->number();
      next = number >= from && (next == nullptr || number < next->number()) ? windows.get() : next;
    }
    if (next == nullptr) {
      return;
    }
    next->close();
  }
}

WindowSegment::WindowSegment(std::shared_ptr<WindowPool> pool, TeamWindows& windows,
                             const MemorySource& source, const WindowPart& part, std::size_t bytes,
                             const Options& options, detail::RemoteLocks* mutexes) noexcept
    : pool_(std::move(pool)),
      windows_(windows),
      source_(source),
      part_(part),
      local_(bytes == 0 ? nullptr : part.shared->base + part.offset),
      options_(options),
      mutexes_(mutexes) {}

int WindowSegment::lock_type() const noexcept {
  const bool conflicts = has_conflicts() && options_.access_mode != AccessMode::read_only &&
                         options_.access_mode != AccessMode::accumulate_only;
  return conflicts ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED;
}

// MPI's hints stay as they were when the window was made; they cannot be withdrawn.
void WindowSegment::set_access(AccessMode mode, Conflicts conflicts) noexcept {
  options_.access_mode = mode;
  options_.conflicts = conflicts;
  if (Segment* const inner = below()) {
    inner->set_access(mode, conflicts);
  }
}

// In windows that are locked for each operation, this is an epoch at the beginning and one at the
// end: an epoch for the whole access would prevent this rank's operations on other ranks.
Status WindowSegment::begin_access() {
  if (window().is_lock_all()) {
    return window().synchronise();
  }
  const auto mpi_guard = window().world().lock_calls();
  TESSERA_RETURN_IF_ERROR(window().lock(MPI_LOCK_EXCLUSIVE, options_.own_rank));
  return window().unlock(options_.own_rank);
}

Status WindowSegment::end_access() {
  return begin_access();
}

DirectMap WindowSegment::direct() const noexcept {
  DirectMap map = part_.shared->direct;
  map.base = map.base == nullptr ? nullptr : map.base + part_.offset;
  return map;
}

Status WindowSegment::free() {
  pool_->local_windows()->remove(local_);
  return pool_->free_part(windows_, part_, source_);
}

}  // namespace tessera::rma::mpi
