// SPDX-License-Identifier: BSD-3-Clause
//
// Staying awake longer than one spins, while others have this core again and again.
//
// To wake a sleeper takes 4 to 25 us, most of it where its core was idle, too. A waiter that yields
// instead costs others on its core a switch of a microsecond, and sees what comes as soon as it has
// the core again. That is soon where the others wait as well, which is what ranks mostly do that
// share cores: then collectives of four ranks on two cores take a tenth of the time. But a thread
// that computes, once it has the core, keeps it for a slice of some milliseconds; only a thread
// that was asleep takes it away. A waiter that lost a slice by its yielding therefore sleeps at
// once for a time that grows: docs/decisions/0035.
#pragma once

#include <chrono>

#include "rma/node/futex.hpp"

namespace tessera::rma::detail {

/// How a waiter stays awake behind its first spin.
struct Linger {
  std::chrono::nanoseconds budget{0};          ///< for how long; 0: not at all
  std::chrono::nanoseconds between_yields{0};  ///< for which it spins; 0: for a few looks
};

/// What one thread knows of others that compute on its core. Not thread-safe.
class Crowd {
 public:
  using Clock = std::chrono::steady_clock;
  struct Limits {
    /// How long a first loss is remembered; each further one twice as long.
    Clock::duration least = std::chrono::milliseconds(1);
    Clock::duration most = std::chrono::milliseconds(100);
    /// Behind that time the next loss counts as a first one. Longer than what is lost and the time
    /// between two losses: some milliseconds each, for an agent whose node's rank computes.
    Clock::duration forgotten = std::chrono::milliseconds(100);
  };

  constexpr Crowd() noexcept = default;
  constexpr explicit Crowd(const Limits& limits) noexcept : limits_(limits) {}

  /// Lets others go first. True when one of them had the core for a slice.
  static bool give_way() noexcept;
  /// What this thread waited for came while it had given way.
  void note_loss(Clock::time_point now) noexcept;
  /// True for a while behind a loss: who is to wait does so asleep.
  [[nodiscard]] bool is_here(Clock::time_point now) const noexcept { return now < until_; }

  /// The calling thread's, for what it waits for itself.
  static Crowd& of_waiter() noexcept;

 private:
  Limits limits_;
  Clock::time_point until_{};
  Clock::duration length_{};
};

/// Calls `ready` until it is true or it is time to sleep; tells which. Cost: one reading of the
/// clock, and up to five with a yield each `between_yields`.
template <class Ready>
bool linger_until(const Linger& linger, Ready&& ready) {
  const auto start = Crowd::Clock::now();
  Crowd& crowd = Crowd::of_waiter();
  if (crowd.is_here(start)) {
    return ready();
  }
  auto now = start;
  while (now - start < linger.budget) {
    const bool was_away = Crowd::give_way();
    if (spin_until(linger.between_yields, ready)) {
      if (was_away) {
        crowd.note_loss(Crowd::Clock::now());
      }
      return true;
    }
    now = Crowd::Clock::now();
  }
  return ready();
}

}  // namespace tessera::rma::detail
