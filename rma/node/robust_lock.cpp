// SPDX-License-Identifier: BSD-3-Clause
#include "rma/node/robust_lock.hpp"

namespace tessera::rma::detail {

RobustLock::Acquired RobustLock::lock_contended(const LockContext& context) noexcept {
  const bool spun = spin_until(context.spin, [&] { return try_lock(context); });
  if (spun) {
    return Acquired::normally;
  }
  // From here on the waiters bit stays set while this rank has the lock: others may sleep as
  // well, and only its unlock can wake them.
  const std::uint32_t own_word = owner_word(context) | waiters_bit;
  auto last_check = std::chrono::steady_clock::now();
  while (true) {
    std::uint32_t seen = word_.load(std::memory_order_relaxed);
    if (seen == 0) {
      if (word_.compare_exchange_weak(seen, own_word, std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
        return Acquired::normally;
      }
      continue;
    }
    if ((seen & waiters_bit) == 0 &&
        !word_.compare_exchange_weak(seen, seen | waiters_bit, std::memory_order_relaxed)) {
      continue;
    }
    futex_wait(word_, seen | waiters_bit, context.liveness_interval);
    const auto now = std::chrono::steady_clock::now();
    if (now - last_check < context.liveness_interval || context.liveness == nullptr) {
      continue;
    }
    last_check = now;
    seen = word_.load(std::memory_order_relaxed);
    const int owner = static_cast<int>(seen & ~waiters_bit) - 1;
    if (owner >= 0 && context.liveness->has_ended(owner) &&
        word_.compare_exchange_strong(seen, own_word, std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
      return Acquired::from_dead_owner;
    }
  }
}

}  // namespace tessera::rma::detail
