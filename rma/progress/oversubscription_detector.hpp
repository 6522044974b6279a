// SPDX-License-Identifier: BSD-3-Clause
//
// OversubscriptionDetector: decides whether a waiting thread may yield its core or should sleep.
//
// Waking a sleeping thread takes 4 to 25 us; an idle core takes longest. A waiter that yields
// instead costs other threads on its core a switch of a microsecond, and sees an event as soon as
// it runs again. If the others wait as well, as ranks that share cores mostly do, that is soon:
// collectives of four ranks on two cores take a tenth of the time. But a computing thread that gets
// the core keeps it for a time slice of some milliseconds; only a thread that slept preempts it. So
// a waiter that lost a slice by yielding sleeps without yielding for a period, which grows with
// each lost slice: docs/decisions/0074.
#pragma once

#include <chrono>

namespace tessera::rma::detail {

/// Detects that other threads compute on this thread's core. Not thread-safe.
class OversubscriptionDetector {
 public:
  using Clock = std::chrono::steady_clock;
  struct Limits {
    /// How long a thread sleeps instead of yielding after a first lost slice. The period doubles
    /// with each further one.
    Clock::duration min_backoff = std::chrono::milliseconds(1);
    Clock::duration max_backoff = std::chrono::milliseconds(100);
    /// After this time the next lost slice counts as a first one. It exceeds a slice plus the time
    /// between two lost ones: some milliseconds each, for an agent whose node's rank computes.
    Clock::duration reset_after = std::chrono::milliseconds(100);
  };

  constexpr OversubscriptionDetector() noexcept = default;
  constexpr explicit OversubscriptionDetector(const Limits& limits) noexcept : limits_(limits) {}

  /// Yields. Returns true if another thread had the core for a time slice.
  static bool yield() noexcept;
  /// Records that the event for which it waited arrived while another thread had the core.
  void record_lost_slice(Clock::time_point now) noexcept;
  /// True for a period after a lost slice: the thread should sleep and not yield.
  [[nodiscard]] bool is_oversubscribed(Clock::time_point now) const noexcept {
    return now < until_;
  }

  /// The calling thread's own, for its waits.
  static OversubscriptionDetector& for_this_thread() noexcept;

 private:
  Limits limits_;
  Clock::time_point until_{};
  Clock::duration length_{};
};

}  // namespace tessera::rma::detail
