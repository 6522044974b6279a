// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/lock_set_state.hpp"

#include <fmt/format.h>

#include <pthread.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "rma/engine/job_state.hpp"
#include "rma/engine/region_numbers.hpp"
#include "rma/engine/slice_cache.hpp"
#include "rma/interruption.hpp"
#include "rma/progress/long_wait.hpp"
#include "rma/team_number.hpp"

namespace tessera::rma::detail {
namespace {

void count_lock(const JobState& job, WorldRank owner) {
  if (CachedSlice* const entry = job.slices().counting_entry(owner)) {
    entry->count(Op::lock, 0);
  } else {
    job.slices().counters().add(owner, no_region, Op::lock, {1, 0});
  }
}

// Whether the network keeps the locks of a team. Then all are remote, even this rank's own.
bool has_remote_locks(const TeamState& team) {
  const NodeControlChannel* const link = team.job().link();
  return team.node_members() < team.size() && link != nullptr && link->has_network_locks();
}

// A number of the calling thread, different from that of any other thread of this node.
std::uint64_t this_thread(const Node& node) noexcept {
  constexpr unsigned address_bits = 48;
  const auto address = reinterpret_cast<std::uint64_t>(pthread_self());
  return address ^ (static_cast<std::uint64_t>(node.local_rank()) + 1) << address_bits;
}

WorldRank world_rank(const TeamState& team, TeamRank member) {
  return team.members()[static_cast<std::size_t>(member.value)];
}

// The lock that is waited for, and its holder if that is known.
std::string describe(const TeamState& team, TeamRank owner, std::int64_t index,
                     std::optional<WorldRank> holder) {
  std::string whose;
  if (holder == team.job().rank()) {
    whose = ", which another thread of this rank holds";
  } else if (holder) {
    whose = fmt::format(", which rank {} holds", holder->value);
  }
  return fmt::format("for lock {} of rank {}{}", index, world_rank(team, owner).value, whose);
}

Status holder_gone(const TeamState& team, TeamRank owner, std::int64_t index,
                   const LockOutcome& outcome) {
  const NodeMap& nodes = team.job().nodes();
  const WorldRank rank = world_rank(team, owner);
  // If the holder is on another node, the lock's node knows only that the connection has ended.
  const char* const death = nodes.node_of(outcome.holder) == nodes.node_of(rank)
                                ? "died"
                                : "died, or lost its connection to the lock's node,";
  return Status::error_at(
             outcome.holder, Code::peer_lost,
             fmt::format("rank {} {} while it held lock {} of rank {}", outcome.holder.value,
                         outcome.holder_left ? "left the job" : death, index, rank.value))
      .hint("repair what the lock guards; the lock itself is free again");
}

// Teams number their sets from 1 on, so that sets of different teams have equal numbers.
std::uint64_t number_of_set(const Team& team, std::uint64_t number) noexcept {
  return Label::mix(number_of_team(team.state().members()), number);
}

Status recursive(const TeamState& team, TeamRank owner, std::int64_t index) {
  return Status::error(Code::invalid_argument,
                       fmt::format("lock {} of rank {} is held by this thread already; locks are "
                                   "not recursive",
                                   index, world_rank(team, owner).value))
      .hint("unlock it first, or lock it only in the outer one of two functions");
}

Status interrupted(const TeamState& team, TeamRank owner, std::int64_t index) {
  return Status::error(Code::timed_out,
                       fmt::format("the wait for lock {} of rank {} was interrupted", index,
                                   world_rank(team, owner).value));
}

Status not_held(const TeamState& team, TeamRank owner, std::int64_t index) {
  return Status::error(Code::invalid_argument,
                       fmt::format("unlock of lock {} of rank {}, which this rank does not hold",
                                   index, world_rank(team, owner).value));
}

}  // namespace

LockSetState::LockSetState(Team& team)
    : keep_job_(team.state().job().weak_from_this().lock()),
      team_(team),
      node_(team.state().job().node()) {}

Result<std::shared_ptr<LockSetState>> LockSetState::create(Team& team, std::int64_t count) {
  constexpr std::int64_t max_count = 1LL << 32;
  TESSERA_RETURN_IF_ERROR(team.agree([&] {
    return count < 0 || count > max_count
               ? Status::error(Code::invalid_argument,
                               fmt::format("{} locks cannot be made", count))
               : Status();
  }));
  return team.state().do_together([&]() -> Result<std::shared_ptr<LockSetState>> {
    std::shared_ptr<LockSetState> state(new LockSetState(team));
    // The first member's number is used: members that missed a creation have drawn fewer.
    struct LockRequest {
      std::int64_t count;
      std::uint64_t number;
    };
    TESSERA_ASSIGN_OR_RETURN(const std::vector<LockRequest> requests,
                             team.allgather_value(LockRequest{count, team.state().draw_number()}));
    std::vector<std::int64_t> counts(requests.size());
    std::transform(requests.begin(), requests.end(), counts.begin(),
                   [](const LockRequest& each) { return each.count; });
    state->number_ = requests.front().number;
    TESSERA_RETURN_IF_ERROR(state->make_locks(counts));
    return state;
  });
}

// Allocates all memory before the last meeting, after which the others have their locks.
Status LockSetState::make_locks(const std::vector<std::int64_t>& counts) {
  if (has_remote_locks(team_.state())) {
    return make_remote_locks(counts);
  }
  const bool is_maker = team_.state().order() == 0;
  std::vector<NodesLocks> by_node;
  Status all = team_.agree([&]() -> Status {
    by_node.resize(static_cast<std::size_t>(team_.state().job().nodes().count()));
    owners_.reserve(counts.size());
    if (is_maker) {
      TESSERA_ASSIGN_OR_RETURN(own_, make_own(counts));
    }
    return {};
  });
  if (all.ok()) {
    const auto offers = team_.allgather_value(own_);
    all = offers.status();
    if (all.ok()) {
      find_owners(counts, *offers, by_node);
    }
  }
  if (!all.ok()) {
    give_back();
  }
  is_made_ = all.ok();
  return all;
}

Status LockSetState::make_remote_locks(const std::vector<std::int64_t>& counts) {
  for (const std::int64_t count : counts) {
    owners_.push_back({.count = count, .memory = remote_memory});
  }
  TESSERA_ASSIGN_OR_RETURN(remote_, job().link()->make_locks(team_, counts));
  is_made_ = true;
  return {};
}

void LockSetState::give_back() noexcept {
  if (own_.memory.value != 0) {
    team_.state().job().link()->withdraw(own_.memory);
  }
  if (own_.offset != 0) {
    node_.arena().free(own_.offset, bytes_);
  }
}

// Makes the locks of all members on this node.
Result<LockSetState::Offer> LockSetState::make_own(const std::vector<std::int64_t>& counts) {
  // Each queue has room for all ranks of this node and for some remote ranks. Further remote ranks
  // wait for room, without blocking others.
  constexpr std::int32_t max_queued_remote_ranks = 32;
  const std::int32_t elsewhere = team_.size() - team_.state().node_members();
  const std::int32_t waiters = node_.size() + std::min(elsewhere, max_queued_remote_ranks);
  const auto capacity = std::bit_ceil(std::max(8U, 2 * static_cast<std::uint32_t>(waiters)));
  Offer offer;
  offer.lock_bytes = QueueLock::bytes(capacity);
  std::int64_t count = 0;
  for (std::size_t member = 0; member < counts.size(); ++member) {
    count += node_.local_rank_of(team_.members()[member]) >= 0 ? counts[member] : 0;
  }
  bytes_ = static_cast<std::uint64_t>(count) * offer.lock_bytes;
  if (count == 0) {
    return offer;
  }
  TESSERA_ASSIGN_OR_RETURN(offer.offset, node_.arena().allocate(bytes_));
  if (Status status = back_and_publish(offer, capacity); !status.ok()) {
    node_.arena().free(offer.offset, bytes_);
    return status;
  }
  return offer;
}

Status LockSetState::back_and_publish(Offer& offer, std::uint32_t capacity) const {
  JobState& job = team_.state().job();
  TESSERA_RETURN_IF_ERROR(node_.arena().back(offer.offset, bytes_));
  for (std::uint64_t at = 0; at < bytes_; at += offer.lock_bytes) {
    new (node_.arena().at(offer.offset + at)) QueueLock(capacity);
  }
  if (team_.state().node_members() == team_.size()) {
    return {};
  }
  TESSERA_ASSIGN_OR_RETURN(
      offer.memory,
      publish(job, {.offset = offer.offset, .bytes = bytes_, .lock_bytes = offer.lock_bytes}));
  return {};
}

// On each node the members' locks follow each other in team order, in the memory of the first one.
void LockSetState::find_owners(const std::vector<std::int64_t>& counts,
                               const std::vector<Offer>& offers,
                               std::vector<NodesLocks>& by_node) noexcept {
  const NodeMap& nodes = team_.state().job().nodes();
  for (std::size_t member = 0; member < counts.size(); ++member) {
    const WorldRank rank = team_.members()[member];
    const bool is_local = node_.local_rank_of(rank) >= 0;
    NodesLocks& there = by_node[static_cast<std::size_t>(nodes.node_of(rank).value)];
    there.offer = there.offer == nullptr ? &offers[member] : there.offer;
    owners_.push_back({.count = counts[member],
                       .lock_bytes = there.offer->lock_bytes,
                       .offset = there.used + (is_local ? there.offer->offset : 0),
                       .memory = is_local ? RegionId{} : there.offer->memory});
    there.used += static_cast<std::uint64_t>(counts[member]) * there.offer->lock_bytes;
  }
}

JobState& LockSetState::job() const noexcept {
  return team_.state().job();
}

Status LockSetState::free(std::string_view verb) {
  if (!is_made_.exchange(false)) {
    return {};
  }
  if (team_.state().job().is_in_forked_child()) {
    return Status::error(Code::closed, "the locks belong to the parent of this process");
  }
  const LabelScope scope(team_, {.verb = verb, .kind = "lock set", .number = number_});
  const WaitScope wait(job().recorder(), Wait::memory, WorldRank{-1}, 0, team_.state().label());
  Status done = wait_for_unlocks();
  TESSERA_RETURN_IF_ERROR(team_.barrier());
  give_back();
  if (remote_ != nullptr) {
    Status freed = remote_->free();
    done = done.ok() ? std::move(freed) : std::move(done);
  }
  return done;
}

// Unlocks may be on their way, and must still find their lock. The agent answers this request after
// them.
Status LockSetState::wait_for_unlocks() {
  const JobState& job = this->job();
  return held_remote_.ask_used_nodes([&](NodeId node) {
    return job.link()->peer_state_of(job.nodes().first_rank_of(node)).status();
  });
}

inline const LockSetState::OwnersLocks* LockSetState::find(TeamRank owner,
                                                           std::int64_t index) const noexcept {
  const auto member = static_cast<std::size_t>(static_cast<std::uint32_t>(owner.value));
  if (member >= owners_.size() || !is_made_.load(std::memory_order_relaxed) ||
      team_.state().job().is_stopped()) [[unlikely]] {
    return nullptr;
  }
  const OwnersLocks& locks = owners_[member];
  return index < 0 || index >= locks.count ? nullptr : &locks;
}

inline QueueLock& LockSetState::local_lock(const OwnersLocks& locks,
                                           std::int64_t index) const noexcept {
  return *reinterpret_cast<QueueLock*>(node_.arena().at(locks.offset_of(index)));
}

Status LockSetState::missing(TeamRank owner, std::int64_t index) const {
  if (owner.value < 0 || owner.value >= team_.size()) {
    return Status::error(
        Code::out_of_range,
        fmt::format("member {} has no locks: the team has {} members", owner.value, team_.size()));
  }
  if (index < 0 || index >= count(owner)) {
    return Status::error(Code::out_of_range,
                         fmt::format("there is no lock {} at rank {}, which has {} locks", index,
                                     team_.world_rank(owner).value, count(owner)));
  }
  TESSERA_RETURN_IF_ERROR(team_.state().job().check_running());
  return Status::error(Code::closed, "the locks were freed");
}

Status LockSetState::lock(TeamRank owner, std::int64_t index) {
  const OwnersLocks* const locks = find(owner, index);
  if (locks == nullptr) [[unlikely]] {
    return missing(owner, index);
  }
  const TeamState& team = team_.state();
  team.job().observers().report_order(OrderCall::Kind::acquire, [&] {
    return number_of_lock(number_of_set(team_, number_), team_.world_rank(owner), index);
  });
  count_lock(team.job(), team.members()[static_cast<std::size_t>(owner.value)]);
  if (locks->memory.value != 0) {
    return lock_remote(owner, *locks, index);
  }
  if (QueueLock& wanted = local_lock(*locks, index); wanted.try_lock(node_)) [[likely]] {
    wanted.record_thread(this_thread(node_));
    if (Recorder* const recorder = team.job().recorder()) [[unlikely]] {
      recorder->record_done(Wait::lock);
    }
    return {};
  }
  return wait_for_lock(owner, *locks, index);
}

[[gnu::noinline]] Status LockSetState::wait_for_lock(TeamRank owner, const OwnersLocks& locks,
                                                     std::int64_t index) {
  JobState& job = team_.state().job();
  const WaitScope wait(job.recorder(), Wait::lock, team_.world_rank(owner));
  QueueLock& wanted = local_lock(locks, index);
  if (wanted.thread() == this_thread(node_)) {
    return recursive(team_.state(), owner, index);
  }
  LongWait long_wait(job.settings());
  const auto report_wait = [&] {
    report_if_long(long_wait, job.log(), [&] {
      const int holder = wanted.holder();
      return describe(team_.state(), owner, index,
                      holder < 0 ? std::nullopt : std::optional(node_.rank_at(holder)));
    });
    return Interruption::is_requested();
  };
  int dead_local_rank = 0;
  // This rank is already in the queue, so it must wait for its ticket, whether or not there is
  // memory.
  const auto outcome = wanted.wait_with_ticket(node_, dead_local_rank, std::cref(report_wait));
  if (outcome == QueueLock::Outcome::given_up) {
    return interrupted(team_.state(), owner, index);
  }
  if (outcome != QueueLock::Outcome::acquired) {
    return holder_gone(team_.state(), owner, index,
                       lock_outcome_of(node_, outcome, dead_local_rank));
  }
  wanted.record_thread(this_thread(node_));
  return {};
}

Status LockSetState::lock_remote(TeamRank owner, const OwnersLocks& locks, std::int64_t index) {
  JobState& job = team_.state().job();
  const NodeId node = job.nodes().node_of(team_.world_rank(owner));
  if (held_remote_.thread_holding({owner.value, index}) == this_thread(node_)) {
    return recursive(team_.state(), owner, index);
  }
  const WaitScope wait(job.recorder(), Wait::lock, team_.world_rank(owner));
  LongWait long_wait(job.settings());
  auto held = HeldLocks::reserve({owner.value, index}, node, this_thread(node_));
  const auto report_wait = [&] {
    report_if_long(long_wait, job.log(), [&] {
      return describe(team_.state(), owner, index,
                      held_remote_.thread_holding({owner.value, index}) != 0
                          ? std::optional(job.rank())
                          : std::nullopt);
    });
  };
  TESSERA_ASSIGN_OR_RETURN(const LockOutcome outcome,
                           request_lock(owner, locks, index, std::cref(report_wait)));
  if (!outcome.is_acquired) {
    return holder_gone(team_.state(), owner, index, outcome);
  }
  held_remote_.add(held);
  return {};
}

Result<LockOutcome> LockSetState::request_lock(TeamRank owner, const OwnersLocks& locks,
                                               std::int64_t index,
                                               const std::function<void()>& report_wait) {
  const NodeId node = job().nodes().node_of(team_.world_rank(owner));
  return remote_ != nullptr
             ? remote_->lock(owner, index, report_wait)
             : job().link()->lock(node, locks.memory, locks.offset_of(index), report_wait);
}

Result<LockOutcome> LockSetState::request_try_lock(TeamRank owner, const OwnersLocks& locks,
                                                   std::int64_t index) {
  const NodeId node = job().nodes().node_of(team_.world_rank(owner));
  return remote_ != nullptr ? remote_->try_lock(owner, index)
                            : job().link()->try_lock(node, locks.memory, locks.offset_of(index));
}

Status LockSetState::send_unlock(TeamRank owner, const OwnersLocks& locks, std::int64_t index) {
  const NodeId node = job().nodes().node_of(team_.world_rank(owner));
  return remote_ != nullptr ? remote_->unlock(owner, index)
                            : job().link()->unlock(node, locks.memory, locks.offset_of(index));
}

Result<bool> LockSetState::try_lock(TeamRank owner, std::int64_t index) {
  const OwnersLocks* const locks = find(owner, index);
  if (locks == nullptr) {
    return missing(owner, index);
  }
  JobState& job = team_.state().job();
  const WorldRank rank = team_.world_rank(owner);
  job.observers().report_order(OrderCall::Kind::acquire, [&] {
    return number_of_lock(number_of_set(team_, number_), team_.world_rank(owner), index);
  });
  count_lock(job, rank);
  const NodeId node = job.nodes().node_of(rank);
  const bool is_local = locks->memory.value == 0;
  auto held = is_local ? HeldLocks::Reserved()
                       : HeldLocks::reserve({owner.value, index}, node, this_thread(node_));
  TESSERA_ASSIGN_OR_RETURN(const LockOutcome outcome, is_local
                                                          ? try_lock_local(*locks, index)
                                                          : request_try_lock(owner, *locks, index));
  if (outcome.is_busy) {
    return false;
  }
  if (!outcome.is_acquired) {
    return holder_gone(team_.state(), owner, index, outcome);
  }
  held_remote_.add(held);
  return true;
}

Result<LockOutcome> LockSetState::try_lock_local(const OwnersLocks& locks,
                                                 std::int64_t index) const {
  int dead_local_rank = -1;
  QueueLock& wanted = local_lock(locks, index);
  const auto outcome = wanted.try_lock(node_, node_.local_rank(), dead_local_rank);
  if (!outcome) {
    return LockOutcome{.is_acquired = false, .is_busy = true};
  }
  if (*outcome == QueueLock::Outcome::acquired) {
    wanted.record_thread(this_thread(node_));
  }
  return lock_outcome_of(node_, *outcome, dead_local_rank);
}

Status LockSetState::unlock(TeamRank owner, std::int64_t index) {
  const OwnersLocks* const locks = find(owner, index);
  if (locks == nullptr) [[unlikely]] {
    return missing(owner, index);
  }
  team_.state().job().observers().report_order(OrderCall::Kind::release, [&] {
    return number_of_lock(number_of_set(team_, number_), team_.world_rank(owner), index);
  });
  if (locks->memory.value != 0) {
    return unlock_remote(owner, *locks, index);
  }
  QueueLock& held = local_lock(*locks, index);
  if (held.holder() == node_.local_rank()) [[likely]] {
    held.record_thread(0);  // the next holder may be there at once
  }
  return held.unlock(node_) ? Status() : not_held(team_.state(), owner, index);
}

Status LockSetState::unlock_remote(TeamRank owner, const OwnersLocks& locks, std::int64_t index) {
  HeldLocks::Entry held = held_remote_.remove({owner.value, index});
  if (held.empty()) {
    return not_held(team_.state(), owner, index);
  }
  Status unlocked = retry([&] { return send_unlock(owner, locks, index); });
  if (!unlocked.ok() && is_local_resource_error(unlocked)) {  // nothing was sent: it is still held
    held_remote_.put_back(std::move(held));
  }
  return unlocked;
}

}  // namespace tessera::rma::detail
