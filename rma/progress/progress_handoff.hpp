// SPDX-License-Identifier: BSD-3-Clause
//
// ProgressHandoff: lets waiting ranks of this process do the work of the agent's thread, since two
// threads would only compete for the core. The agent's thread sleeps in timed waits meanwhile.
//
// Threads: begin(), end(), take_back() and record_urgent() may be called from any thread; the rest
// belongs to the agent's thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "rma/base/futex.hpp"

namespace tessera::rma::detail {

/// Timed waits of an agent's thread, while another thread does its work and shortly afterwards.
/// Each wake-up costs about 18 us of the shared core, so the waits are long unless something waits
/// for the agent's work.
struct TimedWaitLimits {
  /// The first one, if a peer or a rank may wait for the agent.
  std::chrono::microseconds waited_for{50};
  std::chrono::microseconds when_idle{300};  ///< the first one otherwise
  std::chrono::microseconds longest{500};    ///< while other threads keep doing its work
};

class ProgressHandoff {
 public:
  /// `is_shared`: the node has other ranks, which may wait for arrivals while no other thread does
  /// the work.
  ProgressHandoff(const TimedWaitLimits& limits, bool is_shared) noexcept
      : limits_(limits), is_shared_(is_shared) {}

  /// Between these calls another thread does the agent thread's work repeatedly.
  void begin() noexcept { delegations_.fetch_add(1); }
  void end() noexcept;
  /// Called before such a thread sleeps: ends the agent's timed wait so that the agent resumes
  /// polling, unless a further thread does its work.
  void take_back() noexcept;
  /// Urgent requests came, which make more such requests likely: their origins wait for replies.
  void record_urgent() noexcept;

  /// The number of take_back() calls that took effect. To be read before is_delegated() or
  /// has_just_ended().
  [[nodiscard]] std::uint32_t mark() const noexcept { return resume_count_.load(); }
  /// True while another thread does the work and shortly afterwards, since a thread that waits
  /// often will do it again.
  [[nodiscard]] bool is_delegated() const noexcept;
  /// True for 1 ms after another thread last did the work.
  [[nodiscard]] bool has_just_ended() const noexcept;
  /// Performs one timed wait, each twice as long as the one before, while is_delegated().
  /// take_back() ends it. `mark`: the value that mark() returned.
  void timed_wait(std::uint32_t mark) noexcept;
  /// The same if the delegation has_just_ended(): a short wait if other ranks may be waiting.
  void timed_wait_after_delegation(std::uint32_t mark) noexcept;
  /// The thread sleeps for longer than a timed wait: the next timed wait is short again.
  void reset_timed_wait() noexcept { last_wait_ = {}; }

 private:
  [[nodiscard]] std::chrono::microseconds first_wait() const noexcept;

  const TimedWaitLimits limits_;
  const bool is_shared_;
  std::chrono::microseconds last_wait_{0};
  std::atomic<int> delegations_{0};
  std::atomic<std::int64_t> last_end_{0};     // nanoseconds of the steady clock
  std::atomic<std::int64_t> last_urgent_{0};  // same clock: when an urgent request last came
  FutexWord resume_count_{0};                 // counts take_back(); the thread waits on it
  std::atomic<bool> is_waiting_{false};
};

}  // namespace tessera::rma::detail
