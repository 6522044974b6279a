// SPDX-License-Identifier: BSD-3-Clause
//
// OversubscriptionDetector: decides whether a waiter may yield its core, or should sleep.
//
// Waking a sleeper takes 4 to 25 us, most of it if its core was idle, too. A waiter that yields
// instead costs other threads on its core a switch of a microsecond, and sees an event as soon as
// it runs again. That is soon if the others wait as well, as ranks that share cores mostly do:
// collectives of four ranks on two cores then take a tenth of the time. But a thread that computes
// keeps the core for a time slice of some milliseconds once it has it; only a thread that was
// asleep preempts it. A waiter that lost a slice by yielding therefore sleeps at once for a period
// that grows: docs/decisions/0074.
#pragma once

#include <chrono>

namespace tessera::rma::detail {

/// Detects that other threads compute on this thread's core. Not thread-safe.
class OversubscriptionDetector {
 public:
  using Clock = std::chrono::steady_clock;
  struct Limits {
    /// How long a first loss is remembered; each further loss twice as long.
    Clock::duration min_backoff = std::chrono::milliseconds(1);
    Clock::duration max_backoff = std::chrono::milliseconds(100);
    /// After this time the next loss counts as a first one. It exceeds a lost slice plus the time
    /// between two losses: some milliseconds each, for an agent whose node's rank computes.
    Clock::duration reset_after = std::chrono::milliseconds(100);
  };

  constexpr OversubscriptionDetector() noexcept = default;
  constexpr explicit OversubscriptionDetector(const Limits& limits) noexcept : limits_(limits) {}

  /// Yields. Returns true if another thread had the core for a time slice.
  static bool yield() noexcept;
  /// The event that this thread waited for came while another thread had the core.
  void note_loss(Clock::time_point now) noexcept;
  /// True for a while after a loss: the thread should sleep and not yield.
  [[nodiscard]] bool is_here(Clock::time_point now) const noexcept { return now < until_; }

  /// The calling thread's own, for its waits.
  static OversubscriptionDetector& for_this_thread() noexcept;

 private:
  Limits limits_;
  Clock::time_point until_{};
  Clock::duration length_{};
};

}  // namespace tessera::rma::detail
