// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/mpi/window_locks.hpp"

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <numeric>

#include "rma/progress/waiter.hpp"
#include "rma/transport/mpi/error.hpp"

namespace tessera::rma::mpi {

using detail::LockOutcome;

namespace {

// The number of a member's waiters: one for each lock, since one rank may hold all of them, and
// some more for waiting threads.
std::size_t waiters_for(const std::vector<std::int64_t>& counts) noexcept {
  constexpr std::int64_t most = 65'536;
  constexpr std::int64_t threads = 64;
  std::int64_t all = threads;
  for (const std::int64_t count : counts) {
    all = std::min(most, all + count);
  }
  return static_cast<std::size_t>(all);
}

}  // namespace

WindowLocks::WindowLocks(WindowLockContext context, const Team& team, std::size_t waiters,
                         std::unique_ptr<WindowSegment> segment)
    : context_(std::move(context)),
      team_(team),
      segment_(std::move(segment)),
      waiters_(waiters),
      free_(waiters) {
  std::iota(free_.rbegin(), free_.rend(), 0U);  // the lowest is taken first
  context_.exit_releaser->add(this, [this] { release_all(); });
}

Result<std::unique_ptr<detail::RemoteLocks>> WindowLocks::create(
    WindowLockContext context, WindowPool& pool, Team& team,
    const std::vector<std::int64_t>& counts) {
  const auto own = static_cast<std::size_t>(counts[static_cast<std::size_t>(team.rank().value)]);
  const std::size_t waiters = waiters_for(counts);
  const std::size_t bytes = waiters * sizeof(Waiter) + own * sizeof(std::uint64_t);
  TESSERA_ASSIGN_OR_RETURN(auto segment,
                           pool.allocate(nullptr, team, bytes, {}, WindowPool::Use::atomic_locks));
  return std::unique_ptr<detail::RemoteLocks>(
      new WindowLocks(std::move(context), team, waiters, std::move(segment)));
}

std::uint64_t WindowLocks::next_of(std::size_t slot) noexcept {
  return slot * sizeof(Waiter) + offsetof(Waiter, next);
}
std::uint64_t WindowLocks::waits_of(std::size_t slot) noexcept {
  return slot * sizeof(Waiter) + offsetof(Waiter, waits);
}
std::uint64_t WindowLocks::tail_of(std::int64_t index) const noexcept {
  return waiters_ * sizeof(Waiter) + static_cast<std::uint64_t>(index) * sizeof(std::uint64_t);
}

// A word of this rank that the processor changes, because MPI's compare-and-swap fails there; null:
// MPI changes it. Other ranks' changes are also made by this rank's processor.
std::uint64_t* WindowLocks::own_word(TeamRank rank, std::uint64_t at) const noexcept {
  return rank == team_.rank() && !segment_->window().has_atomics()
             ? reinterpret_cast<std::uint64_t*>(segment_->local() + at)
             : nullptr;
}

MPI_Aint WindowLocks::displacement_of(TeamRank rank, std::uint64_t at) const noexcept {
  return static_cast<MPI_Aint>(segment_->displacement_at(rank.value) + at);
}

// Accumulates change and read all words; MPI makes these atomic.
Result<std::uint64_t> WindowLocks::exchange(TeamRank rank, std::uint64_t at, std::uint64_t value) {
  if (std::uint64_t* const own = own_word(rank, at)) {
    return std::atomic_ref(*own).exchange(value);
  }
  const Window& window = segment_->window();
  const auto mpi_guard = window.world().lock_calls();
  std::uint64_t before = 0;
  TESSERA_RETURN_IF_ERROR(
      check("MPI_Fetch_and_op",
            MPI_Fetch_and_op(&value, &before, MPI_UINT64_T, rank.value, displacement_of(rank, at),
                             MPI_REPLACE, window.handle())));
  TESSERA_RETURN_IF_ERROR(window.flush(rank.value));
  return before;
}

Result<std::uint64_t> WindowLocks::read(TeamRank rank, std::uint64_t at) {
  if (std::uint64_t* const own = own_word(rank, at)) {
    return std::atomic_ref(*own).load();
  }
  const Window& window = segment_->window();
  const auto mpi_guard = window.world().lock_calls();
  std::uint64_t value = 0;
  TESSERA_RETURN_IF_ERROR(check(
      "MPI_Fetch_and_op", MPI_Fetch_and_op(nullptr, &value, MPI_UINT64_T, rank.value,
                                           displacement_of(rank, at), MPI_NO_OP, window.handle())));
  TESSERA_RETURN_IF_ERROR(window.flush(rank.value));
  return value;
}

Result<std::uint64_t> WindowLocks::compare_exchange(TeamRank rank, std::uint64_t at,
                                                    std::uint64_t expected, std::uint64_t value) {
  if (std::uint64_t* const own = own_word(rank, at)) {
    std::uint64_t before = expected;
    std::atomic_ref(*own).compare_exchange_strong(before, value);
    return before;
  }
  const Window& window = segment_->window();
  const auto mpi_guard = window.world().lock_calls();
  std::uint64_t before = 0;
  TESSERA_RETURN_IF_ERROR(
      check("MPI_Compare_and_swap",
            MPI_Compare_and_swap(&value, &expected, &before, MPI_UINT64_T, rank.value,
                                 displacement_of(rank, at), window.handle())));
  TESSERA_RETURN_IF_ERROR(window.flush(rank.value));
  return before;
}

Status WindowLocks::prepare(std::size_t slot) {
  TESSERA_RETURN_IF_ERROR(exchange(team_.rank(), next_of(slot), 0).status());
  return exchange(team_.rank(), waits_of(slot), 1).status();
}

Result<LockOutcome> WindowLocks::lock(TeamRank owner, std::int64_t index,
                                      const std::function<void()>& on_liveness_check) {
  TESSERA_RETURN_IF_ERROR(segment_->window().world().check_thread());
  const std::size_t slot = take_slot();
  TESSERA_RETURN_IF_ERROR(prepare(slot));
  TESSERA_ASSIGN_OR_RETURN(const std::uint64_t before,
                           exchange(owner, tail_of(index), Name::of(team_.rank(), slot).value));
  if (before != 0) {
    TESSERA_RETURN_IF_ERROR(wait_with_ticket(slot, Name{before}, on_liveness_check));
  }
  hold({owner.value, index}, slot);
  return LockOutcome{};
}

Status WindowLocks::wait_with_ticket(std::size_t slot, Name before,
                                     const std::function<void()>& on_liveness_check) {
  TESSERA_RETURN_IF_ERROR(
      exchange(before.rank(), next_of(before.slot()), Name::of(team_.rank(), slot).value).status());
  Status failed;
  context_.node->listen_until(
      [&] {
        const auto waits = read(team_.rank(), waits_of(slot));
        failed = waits.status();
        return !waits.ok() || *waits == 0;
      },
      [&] {
        on_liveness_check();
        return false;
      });
  return failed;
}

Result<LockOutcome> WindowLocks::try_lock(TeamRank owner, std::int64_t index) {
  TESSERA_RETURN_IF_ERROR(segment_->window().world().check_thread());
  const std::size_t slot = take_slot();
  TESSERA_RETURN_IF_ERROR(prepare(slot));
  TESSERA_ASSIGN_OR_RETURN(
      const std::uint64_t before,
      compare_exchange(owner, tail_of(index), 0, Name::of(team_.rank(), slot).value));
  if (before != 0) {
    release_slot(slot);
    context_.poll();  // the caller may try again and again
    return LockOutcome{.is_acquired = false, .is_busy = true};
  }
  hold({owner.value, index}, slot);
  return LockOutcome{};
}

Status WindowLocks::unlock(TeamRank owner, std::int64_t index) {
  TESSERA_RETURN_IF_ERROR(context_.fence());
  decltype(held_)::node_type held;
  {
    const std::lock_guard guard(mutex_);
    held = held_.extract({owner.value, index});
  }
  if (held.empty()) {
    return Status::error(Code::internal, "a lock that this rank does not hold was unlocked");
  }
  Status handed = hand_over(held.mapped(), owner, index);
  release_slot(held.mapped());
  return handed;
}

Status WindowLocks::hand_over(std::size_t slot, TeamRank owner, std::int64_t index) {
  const std::uint64_t own = Name::of(team_.rank(), slot).value;
  TESSERA_ASSIGN_OR_RETURN(std::uint64_t next, read(team_.rank(), next_of(slot)));
  if (next == 0) {
    TESSERA_ASSIGN_OR_RETURN(const std::uint64_t last,
                             compare_exchange(owner, tail_of(index), own, 0));
    if (last == own) {
      return {};
    }
    TESSERA_ASSIGN_OR_RETURN(next, wait_for_next(slot));
  }
  const Name name{next};
  TESSERA_RETURN_IF_ERROR(exchange(name.rank(), waits_of(name.slot()), 0).status());
  return context_.wake(team_.world_rank(name.rank()));
}

// A successor has replaced the tail, and is about to write its number.
Result<std::uint64_t> WindowLocks::wait_for_next(std::size_t slot) {
  Result<std::uint64_t> next = std::uint64_t{0};
  detail::poll_yielding([&] {
    next = read(team_.rank(), next_of(slot));
    const bool is_over = !next.ok() || *next != 0;
    if (!is_over) {
      context_.poll();
    }
    return is_over;
  });
  return next;
}

void WindowLocks::release_all() {
  std::vector<Key> keys;
  {
    const std::lock_guard guard(mutex_);
    for (const auto& [key, slot] : held_) {
      keys.push_back(key);
    }
  }
  for (const auto& [owner, index] : keys) {
    unlock(TeamRank{owner}, index).ignore("the rank leaves");
  }
}

std::size_t WindowLocks::take_slot() {
  std::size_t slot = 0;
  detail::poll_until(detail::release_waits, [&] {
    const std::lock_guard guard(mutex_);
    if (free_.empty()) {
      return false;
    }
    slot = free_.back();
    free_.pop_back();
    return true;
  });
  return slot;
}

void WindowLocks::release_slot(std::size_t slot) {
  const std::lock_guard guard(mutex_);
  free_.push_back(static_cast<std::uint32_t>(slot));
}

void WindowLocks::hold(const Key& key, std::size_t slot) {
  const std::lock_guard guard(mutex_);
  held_.emplace(key, slot);
}

}  // namespace tessera::rma::mpi
