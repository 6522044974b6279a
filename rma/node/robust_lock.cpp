// SPDX-License-Identifier: BSD-3-Clause
#include "rma/node/robust_lock.hpp"

#include "rma/progress/waiter.hpp"

namespace tessera::rma::detail {
namespace {

// Sleeps while the lock's word has the value that the waiter last read or wrote.
struct OnLockWord {
  static constexpr bool is_step = false;
  FutexWord& word;
  const std::uint32_t& seen;
  void prepare() const noexcept {}
  void sleep(std::chrono::nanoseconds /*elapsed*/,
             std::chrono::nanoseconds longest) const noexcept {
    futex_wait(word, seen, longest);
  }
};

}  // namespace

RobustLock::Acquired RobustLock::lock_contended(const LockContext& context) noexcept {
  // Without a yield phase: the holder is inside a short critical section.
  const WaitPolicy policy{.spin = context.spin, .liveness_interval = context.liveness_interval};
  const bool spun = spin_until(policy.spin, [&] { return try_lock(context); });
  if (spun) {
    return Acquired::normally;
  }
  // From here on the waiters bit stays set while this rank has the lock: others may sleep as
  // well, and only its unlock can wake them.
  const std::uint32_t own_word = owner_word(context) | waiters_bit;
  std::uint32_t seen = 0;
  const auto take_or_announce = [&] {
    while (true) {
      seen = word_.load(std::memory_order_relaxed);
      if (seen == 0) {
        if (word_.compare_exchange_weak(seen, own_word, std::memory_order_acquire,
                                        std::memory_order_relaxed)) {
          return true;
        }
      } else if ((seen & waiters_bit) != 0 ||
                 word_.compare_exchange_weak(seen, seen | waiters_bit, std::memory_order_relaxed)) {
        seen |= waiters_bit;
        return false;
      }
    }
  };
  const auto take_from_dead_owner = [&] {
    seen = word_.load(std::memory_order_relaxed);
    const int owner = static_cast<int>(seen & ~waiters_bit) - 1;
    return context.liveness != nullptr && owner >= 0 && context.liveness->has_ended(owner) &&
           word_.compare_exchange_strong(seen, own_word, std::memory_order_acquire,
                                         std::memory_order_relaxed);
  };
  return Waiter(policy).sleep(OnLockWord{word_, seen}, take_or_announce, take_from_dead_owner)
             ? Acquired::normally
             : Acquired::from_dead_owner;
}

}  // namespace tessera::rma::detail
