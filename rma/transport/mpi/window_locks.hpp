// SPDX-License-Identifier: BSD-3-Clause
//
// WindowLocks: queue locks in a window (the MCS lock of J. Mellor-Crummey and M. Scott, with MPI's
// atomics).
//
//     slice of a member   [ waiter | … | waiter ][ tail | … | tail ]
//
// A lock is its tail: the last waiter, or 0. A waiter has a word for its successor, and a word that
// its predecessor clears. So each member waits on a word of its own, and the owner of the lock
// takes no part.
//
// Limits today: a rank holds up to 65,536 locks of a set.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "rma/engine/remote_locks.hpp"
#include "rma/node/node.hpp"
#include "rma/team.hpp"
#include "rma/transport/mpi/granted_locks.hpp"
#include "rma/transport/mpi/progress.hpp"
#include "rma/transport/mpi/segment.hpp"

namespace tessera::rma::mpi {

/// Releases a rank's locks when it leaves the job, so that no other rank waits for them.
/// Threads: all functions may be called from any thread.
class ExitLockReleaser {
 public:
  /// `unlock_all` unlocks this rank's locks of a set; it is called until remove(`set`).
  void add(const void* set, std::function<void()> unlock_all) {
    const std::lock_guard guard(mutex_);
    sets_.emplace_back(set, std::move(unlock_all));
  }
  void remove(const void* set) noexcept {
    const std::lock_guard guard(mutex_);
    std::erase_if(sets_, [&](const auto& each) { return each.first == set; });
  }
  void release_all() {
    const std::lock_guard guard(mutex_);
    for (const auto& [set, unlock_all] : sets_) {
      unlock_all();
    }
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<const void*, std::function<void()>>> sets_;
};

/// Functions and objects that locks use.
struct WindowLockContext {
  std::shared_ptr<detail::Node> node;
  std::function<Status()> fence;          ///< completes this rank's operations everywhere
  std::function<Status(WorldRank)> wake;  ///< wakes a rank that waits
  std::function<void()> poll;             ///< lets MPI serve other ranks
  /// Hands a lock over to a rank, by a message.
  std::function<Status(WorldRank, const LockName&)> hand_over;
  GrantedLocks* granted_locks = nullptr;  ///< to this process
  std::shared_ptr<ExitLockReleaser> exit_releaser;
};

class WindowLocks final : public detail::RemoteLocks {
 public:
  /// Collective on `team`. Errors: as WindowPool::allocate().
  static Result<std::unique_ptr<detail::RemoteLocks>> create(
      WindowLockContext context, WindowPool& pool, Team& team,
      const std::vector<std::int64_t>& counts);
  ~WindowLocks() override { context_.exit_releaser->remove(this); }
  WindowLocks(const WindowLocks&) = delete;
  WindowLocks& operator=(const WindowLocks&) = delete;

  Result<detail::LockOutcome> lock(TeamRank owner, std::int64_t index,
                                   const std::function<void()>& on_liveness_check) override;
  Result<detail::LockOutcome> try_lock(TeamRank owner, std::int64_t index) override;
  Status unlock(TeamRank owner, std::int64_t index) override;
  Status free() override { return segment_->free(); }

 private:
  struct Waiter {
    std::uint64_t next = 0;
    std::uint64_t waits = 0;
  };
  /// A waiter of a member, as other members name it; 0: none.
  struct Name {
    std::uint64_t value = 0;
    static constexpr unsigned slot_bits = 32;
    [[nodiscard]] static Name of(TeamRank rank, std::size_t slot) noexcept {
      return {(static_cast<std::uint64_t>(rank.value) << slot_bits) + slot + 1};
    }
    [[nodiscard]] TeamRank rank() const noexcept {
      return TeamRank{static_cast<std::int32_t>((value - 1) >> slot_bits)};
    }
    [[nodiscard]] std::size_t slot() const noexcept {
      return static_cast<std::uint32_t>(value - 1);
    }
  };
  using Key = std::pair<std::int32_t, std::int64_t>;

  WindowLocks(WindowLockContext context, const Team& team, std::size_t waiters,
              std::unique_ptr<WindowSegment> segment);

  static std::uint64_t next_of(std::size_t slot) noexcept;
  static std::uint64_t waits_of(std::size_t slot) noexcept;
  [[nodiscard]] std::uint64_t tail_of(std::int64_t index) const noexcept;
  [[nodiscard]] std::uint64_t* own_word(TeamRank rank, std::uint64_t at) const noexcept;
  [[nodiscard]] MPI_Aint displacement_of(TeamRank rank, std::uint64_t at) const noexcept;
  Result<std::uint64_t> exchange(TeamRank rank, std::uint64_t at, std::uint64_t value);
  Result<std::uint64_t> read(TeamRank rank, std::uint64_t at);
  Result<std::uint64_t> compare_exchange(TeamRank rank, std::uint64_t at, std::uint64_t expected,
                                         std::uint64_t value);
  Status prepare(std::size_t slot);
  Status wait_with_ticket(std::size_t slot, Name before,
                          const std::function<void()>& on_liveness_check);
  Status hand_over(std::size_t slot, TeamRank owner, std::int64_t index);
  Result<std::uint64_t> wait_for_next(std::size_t slot);
  std::size_t take_slot();
  void release_slot(std::size_t slot);
  void hold(const Key& key, std::size_t slot);
  void release_all();

  WindowLockContext context_;
  Team team_;
  std::unique_ptr<WindowSegment> segment_;
  std::mutex mutex_;
  std::size_t waiters_;              ///< of each member
  std::vector<std::uint32_t> free_;  ///< of this member
  std::map<Key, std::size_t> held_;
};

}  // namespace tessera::rma::mpi
