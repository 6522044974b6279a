// SPDX-License-Identifier: BSD-3-Clause
//
// RobustLock: a lock in shared memory that survives the death of its holder.
//
// The word holds the owner's place on the node plus one, so that a waiter can ask whether the
// owner still lives, and take the lock over when it doesn't. Whoever holds a RobustLock keeps what
// it guards valid after every single store, or repairs it when `lock` says that it recovered it.
//
// Cost: one compare-and-swap to lock and one exchange to unlock when nobody else wants it; waiters
// spin briefly and then sleep. Not recursive, not fair (see rma/lock.hpp for the fair kind).
#pragma once

#include <chrono>
#include <cstdint>

#include "rma/node/futex.hpp"

namespace tessera::rma::detail {

/// Tells whether ranks of this node are still there. Threads: safe.
class Liveness {
 public:
  virtual ~Liveness() = default;
  /// True when no process carries the rank at `place` on this node any more. One that left the job
  /// may still give memory back, under locks.
  [[nodiscard]] virtual bool has_ended(int place) const = 0;
};

/// Who is locking, and how it waits.
struct LockContext {
  int place = 0;  ///< of the calling rank on its node
  const Liveness* liveness = nullptr;
  std::chrono::nanoseconds spin{1000};
  std::chrono::nanoseconds look_period{100'000'000};  ///< between looks at the owner's liveness
};

class RobustLock {
 public:
  enum class Acquired : bool { normally, from_the_dead };

  /// Waits until the lock is the caller's.
  Acquired lock(const LockContext& context) noexcept {
    std::uint32_t free = 0;
    if (word_.compare_exchange_strong(free, owner_word(context), std::memory_order_acquire,
                                      std::memory_order_relaxed)) [[likely]] {
      return Acquired::normally;
    }
    return lock_contended(context);
  }

  /// Takes the lock if it is free.
  bool try_lock(const LockContext& context) noexcept {
    std::uint32_t free = 0;
    return word_.load(std::memory_order_relaxed) == 0 &&
           word_.compare_exchange_strong(free, owner_word(context), std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }

  void unlock() noexcept {
    if ((word_.exchange(0, std::memory_order_release) & waiters_bit) != 0) [[unlikely]] {
      futex_wake(word_, 1);
    }
  }

 private:
  static constexpr std::uint32_t waiters_bit = 0x8000'0000;

  static std::uint32_t owner_word(const LockContext& context) noexcept {
    return static_cast<std::uint32_t>(context.place) + 1;
  }
  Acquired lock_contended(const LockContext& context) noexcept;

  FutexWord word_{0};
};

/// Holds a RobustLock for a scope.
class RobustGuard {
 public:
  RobustGuard(RobustLock& lock, const LockContext& context) noexcept
      : lock_(lock), acquired_(lock.lock(context)) {}
  ~RobustGuard() { lock_.unlock(); }
  RobustGuard(const RobustGuard&) = delete;
  RobustGuard& operator=(const RobustGuard&) = delete;
  /// True when the previous holder died inside its critical section.
  [[nodiscard]] bool recovered() const noexcept {
    return acquired_ == RobustLock::Acquired::from_the_dead;
  }

 private:
  RobustLock& lock_;
  RobustLock::Acquired acquired_;
};

}  // namespace tessera::rma::detail
