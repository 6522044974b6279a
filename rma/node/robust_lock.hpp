// SPDX-License-Identifier: BSD-3-Clause
//
// RobustLock: a lock in shared memory that survives the death of its holder.
//
// The word holds the owner's local rank plus one, so that a waiter can check whether the owner is
// alive, and take the lock over if it is not. The holder keeps what the lock protects valid after
// every single store, or repairs it if `lock` returns that it recovered the lock.
//
// Cost: one compare-and-swap to lock and one exchange to unlock without contention; waiters spin
// briefly and then sleep. Not recursive, not fair (rma/lock.hpp has a fair lock).
#pragma once

#include <chrono>
#include <cstdint>

#include "rma/base/futex.hpp"

namespace tessera::rma::detail {

/// Says whether ranks of this node are alive. Threads: safe.
class Liveness {
 public:
  virtual ~Liveness() = default;
  /// True if the process of the rank `local_rank` on this node has ended. A rank that left the job
  /// may still return memory, under locks.
  [[nodiscard]] virtual bool has_ended(int local_rank) const = 0;
};

/// The rank that locks, and how it waits.
struct LockContext {
  int place = 0;  ///< of the calling rank on its node
  const Liveness* liveness = nullptr;
  std::chrono::nanoseconds spin{1000};
  std::chrono::nanoseconds liveness_interval{
      100'000'000};  ///< between liveness checks of the owner
};

class RobustLock {
 public:
  enum class Acquired : bool { normally, from_dead_owner };

  /// Waits until the caller has the lock.
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
  /// True if the previous holder died inside its critical section.
  [[nodiscard]] bool recovered() const noexcept {
    return acquired_ == RobustLock::Acquired::from_dead_owner;
  }

 private:
  RobustLock& lock_;
  RobustLock::Acquired acquired_;
};

}  // namespace tessera::rma::detail
