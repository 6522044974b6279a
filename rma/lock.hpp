// SPDX-License-Identifier: BSD-3-Clause
//
// LockSet: locks that belong to ranks (ARMCI's mutexes, [ARMCI06] §3.5; the queue is [CLUSTERS02]
// §3's).
//
// Each member of a team brings a number of locks; any member locks any of them by (owner, index).
// Each lock is a lock of its own. Waiters are served in the order in which they came, and sleep.
// A lock is held by a rank's thread and not recursive. A thread that locks what it holds already
// gets invalid_argument; other threads of the rank wait as all do.
//
// When a rank dies while it holds a lock, or waits for one, the others go on: the next waiter of a
// lock whose holder died gets peer_lost, without the lock, so that it can look after what the lock
// guards; the lock is then free for the others.
//
// Cost, uncontended: on one node, two compare-and-swaps and a few stores for lock and unlock
// together; between nodes, a round trip for lock and one message for unlock.
// Threads: lock and unlock from any thread.
// Ownership: move-only; the destructor frees, collectively.
#pragma once

#include <cstdint>
#include <memory>

#include "rma/job.hpp"
#include "rma/result.hpp"
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

  /// Collective on `team`. Makes `count` locks at this rank; counts may differ and may be zero.
  /// Errors: invalid_argument (a negative count), no_memory.
  static Result<LockSet> create(Team& team, std::int64_t count);

  /// Collective. Requires: no lock is held or waited for. Idempotent.
  Status free();

  /// One-sided. Waits until lock `index` of `owner` is this thread's; however long its holder
  /// works. Errors: out_of_range, peer_lost (the holder died; the lock is not taken), closed,
  /// invalid_argument (this thread holds it already).
  Status lock(TeamRank owner, std::int64_t index);
  /// One-sided. As lock() without waiting: false when the lock is held, or when an unlock from
  /// another node has not arrived yet.
  Result<bool> try_lock(TeamRank owner, std::int64_t index);
  /// One-sided. Requires: this rank holds it. Errors: out_of_range, invalid_argument (it does not).
  Status unlock(TeamRank owner, std::int64_t index);

  /// The number of locks that `owner` brought.
  [[nodiscard]] std::int64_t count(TeamRank owner) const noexcept;

 private:
  explicit LockSet(std::shared_ptr<detail::LockSetState> state) noexcept
      : state_(std::move(state)) {}
  void free_silently() noexcept;

  std::shared_ptr<detail::LockSetState> state_;
};

}  // namespace tessera::rma
