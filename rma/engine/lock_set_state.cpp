// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/lock_set_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "rma/engine/job_state.hpp"
#include "rma/engine/slice_cache.hpp"

namespace tessera::rma::detail {
namespace {

void count_lock(const JobState& job, WorldRank owner) {
  if (CachedSlice* const line = job.counting_line(owner)) {
    line->count(Op::lock, 0);
  } else {
    job.counters->add(owner, Op::lock, {1, 0});
  }
}

}  // namespace

LockSetState::LockSetState(Team& team)
    : keep_job_(team.state().job().self.lock()),
      team_(team),
      node_(*team.state().job().node),
      capacity_(std::bit_ceil(std::max(8U, 2 * static_cast<std::uint32_t>(node_.size())))),
      lock_bytes_(QueueLock::bytes(capacity_)) {}

std::uint64_t LockSetState::memory_bytes() const noexcept {
  return static_cast<std::uint64_t>(first_.back()) * lock_bytes_;
}

Result<std::shared_ptr<LockSetState>> LockSetState::create(Team& team, std::int64_t count) {
  constexpr std::int64_t most = 1LL << 32;
  Status mine =
      count < 0 || count > most
          ? Status::error(Code::invalid_argument, fmt::format("{} locks cannot be made", count))
          : Status();
  if (mine.ok() && team.state().node_members() < team.size()) {
    mine = Status::error(Code::unsupported,
                         "the members of the team are on several nodes, and "
                         "locks are in the memory of one")
               .hint("make the locks on a team of one node's ranks");
  }
  TESSERA_RETURN_IF_ERROR(team.agree(mine));
  std::shared_ptr<LockSetState> state(new LockSetState(team));
  TESSERA_ASSIGN_OR_RETURN(const std::vector<std::int64_t> counts, team.allgather_value(count));
  state->first_.push_back(0);
  for (const std::int64_t each : counts) {
    state->first_.push_back(state->first_.back() + each);
  }
  TESSERA_RETURN_IF_ERROR(state->make_locks());
  return state;
}

Status LockSetState::make_locks() {
  const std::uint64_t bytes = memory_bytes();
  if (bytes == 0) {
    return {};
  }
  Status mine;
  if (team_.rank().value == 0) {
    Arena& arena = node_.arena();
    auto offset = arena.allocate(bytes);
    mine = offset.ok() ? arena.back(*offset, bytes) : offset.status();
    if (offset.ok() && !mine.ok()) {
      arena.free(*offset, bytes);
    } else if (offset.ok()) {
      offset_ = *offset;
    }
    for (std::int64_t i = 0; i < first_.back() && mine.ok(); ++i) {
      new (arena.at(offset_) + static_cast<std::size_t>(i) * lock_bytes_) QueueLock(capacity_);
    }
  }
  TESSERA_RETURN_IF_ERROR(team_.agree(mine));
  TESSERA_RETURN_IF_ERROR(team_.broadcast_value(offset_, TeamRank{0}));
  locks_ = node_.arena().at(offset_);
  return {};
}

Status LockSetState::free() {
  const std::uint64_t offset = std::exchange(offset_, 0);
  locks_ = nullptr;
  if (offset == 0) {
    return {};
  }
  TESSERA_RETURN_IF_ERROR(team_.barrier());
  if (team_.rank().value == 0) {
    node_.arena().free(offset, memory_bytes());
  }
  return {};
}

inline QueueLock* LockSetState::find(TeamRank owner, std::int64_t index) const noexcept {
  const auto member = static_cast<std::size_t>(static_cast<std::uint32_t>(owner.value));
  if (locks_ == nullptr || member + 1 >= first_.size() ||
      team_.state().job().stopped.load(std::memory_order_relaxed)) [[unlikely]] {
    return nullptr;
  }
  const std::int64_t first = first_[member];
  if (index < 0 || index >= first_[member + 1] - first) [[unlikely]] {
    return nullptr;
  }
  return reinterpret_cast<QueueLock*>(locks_ +
                                      static_cast<std::size_t>(first + index) * lock_bytes_);
}

Status LockSetState::missing(TeamRank owner, std::int64_t index) const {
  if (owner.value < 0 || owner.value >= team_.size()) {
    return Status::error(
        Code::out_of_range,
        fmt::format("member {} has no locks: the team has {} members", owner.value, team_.size()));
  }
  if (index < 0 || index >= count(owner)) {
    return Status::error(Code::out_of_range,
                         fmt::format("there is no lock {} at rank {}, which has {}", index,
                                     team_.world_rank(owner).value, count(owner)));
  }
  return Status::error(Code::closed, team_.state().job().stopped.load() ? "the job was stopped"
                                                                        : "the locks were freed");
}

Status LockSetState::lock(TeamRank owner, std::int64_t index) {
  QueueLock* const lock = find(owner, index);
  if (lock == nullptr) [[unlikely]] {
    return missing(owner, index);
  }
  const TeamState& team = team_.state();
  count_lock(team.job(), team.members()[static_cast<std::size_t>(owner.value)]);
  int dead_place = 0;
  if (lock->lock(node_, dead_place) == QueueLock::Outcome::acquired) [[likely]] {
    return {};
  }
  const WorldRank dead = node_.ranks()[static_cast<std::size_t>(dead_place)];
  return Status::error_at(dead, Code::peer_lost,
                          fmt::format("rank {} {} while it held lock {} of rank {}", dead.value,
                                      node_.has_left(dead_place) ? "left the job" : "died", index,
                                      team_.world_rank(owner).value))
      .hint("repair what the lock guards; the lock itself is free again");
}

Status LockSetState::unlock(TeamRank owner, std::int64_t index) {
  QueueLock* const lock = find(owner, index);
  if (lock == nullptr) [[unlikely]] {
    return missing(owner, index);
  }
  if (!lock->unlock(node_)) {
    return Status::error(Code::invalid_argument,
                         fmt::format("unlock of lock {} of rank {}, which this rank does not hold",
                                     index, team_.world_rank(owner).value));
  }
  return {};
}

}  // namespace tessera::rma::detail
