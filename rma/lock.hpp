// SPDX-License-Identifier: BSD-3-Clause
//
// LockSet: locks that belong to ranks (ARMCI's mutexes, [ARMCI06] §3.5; the queue is that of
// [CLUSTERS02] §3).
//
// Each member of a team contributes a number of locks; any member locks any of them by (owner,
// index). The locks are independent. Waiting threads sleep, and get the lock in the order in which
// they asked for it. A lock is held by a thread of a rank and is not recursive. A thread that locks
// what it already holds gets invalid_argument; other threads of the same rank wait as usual.
//
// If a rank dies while it holds a lock or waits for one, the others continue. The next waiter of a
// lock with a dead holder gets peer_lost, without the lock, so that it can check the data that the
// lock protects; the lock is then free for others.
//
// Cost, uncontended: on one node, two compare-and-swaps and a few stores for lock and unlock
// together; between nodes, a round trip for lock and one message for unlock.
// Threads: lock and unlock from any thread.
// Ownership: move-only; the destructor frees, collectively.
#pragma once

#include <cstdint>
#include <memory>

#include "rma/base/result.hpp"
#include "rma/job.hpp"
#include "rma/team.hpp"

namespace tessera::rma {

namespace detail {
class LockSetState;
}

class LockSet {
 public:
  LockSet() = default;
  LockSet(LockSet&&) noexcept = default;
  LockSet& operator=(LockSet&& other) noexcept;
  ~LockSet();

  /// Collective on `team`. Creates `count` locks at this rank; counts may differ and may be zero.
  /// Errors: invalid_argument (a negative count), no_memory.
  static Result<LockSet> create(Team& team, std::int64_t count);

  /// Collective. Frees the locks. Requires: no lock is held or waited for. Idempotent. Errors:
  /// those of a barrier.
  Status free();

  /// One-sided. Waits until this thread has lock `index` of `owner`, without a time limit.
  /// Errors: out_of_range, peer_lost (the holder died; the lock is not taken), closed,
  /// invalid_argument (this thread holds it already).
  Status lock(TeamRank owner, std::int64_t index);
  /// One-sided. As lock() without waiting: returns false if the lock is held, or if an unlock from
  /// another node has not arrived yet.
  Result<bool> try_lock(TeamRank owner, std::int64_t index);
  /// One-sided. Releases the lock. Requires: this rank holds it.
  /// Errors: out_of_range, invalid_argument (this rank does not hold it).
  Status unlock(TeamRank owner, std::int64_t index);

  /// The number of locks that `owner` contributed.
  [[nodiscard]] std::int64_t count(TeamRank owner) const noexcept;

 private:
  explicit LockSet(std::shared_ptr<detail::LockSetState> state) noexcept
      : state_(std::move(state)) {}
  void free_silently() noexcept;

  std::shared_ptr<detail::LockSetState> state_;
};

}  // namespace tessera::rma
