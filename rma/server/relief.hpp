// SPDX-License-Identifier: BSD-3-Clause
//
// Relief: while ranks of this process wait, they do the work of the agent's thread, as the two
// would only take the core from each other. The thread naps meanwhile.
//
// Threads: begin(), end(), take_back() and note_pressing() may be called from any; the rest
// belongs to the thread that is relieved.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "rma/node/futex.hpp"

namespace tessera::rma::server {

/// Of an agent's thread, while another does its work and a moment longer. Waking takes some 18 us
/// from the core that they are on, so it naps long where nobody waits for what it would do.
struct Naps {
  std::chrono::microseconds waited_for{50};  ///< the first one, where somebody may wait for it
  std::chrono::microseconds by_itself{300};  ///< the first one elsewhere
  std::chrono::microseconds longest{500};    ///< while helpers come again and again
};

class Relief {
 public:
  /// `is_shared`: the node has other ranks, which may wait for what comes while nobody helps.
  Relief(const Naps& naps, bool is_shared) noexcept : naps_(naps), is_shared_(is_shared) {}

  /// Between these somebody does the thread's work again and again.
  void begin() noexcept { helpers_.fetch_add(1); }
  void end() noexcept;
  /// Who has helped falls asleep: the thread naps no more, unless another helps.
  void take_back() noexcept;
  /// Requests came that make others likely, for which somebody waits.
  void note_pressing() noexcept;

  /// How often work was handed back. To be read before is_there() or has_just_ended().
  [[nodiscard]] std::uint32_t mark() const noexcept { return handed_back_.load(); }
  /// Somebody helps; also for a moment behind the last help: who waits often will help again.
  [[nodiscard]] bool is_there() const noexcept;
  /// The last help is not long ago.
  [[nodiscard]] bool has_just_ended() const noexcept;
  /// Naps once, and longer each time, while is_there(); at most until work is handed back. `mark`:
  /// as mark() gave it.
  void nap(std::uint32_t mark) noexcept;
  /// The same behind a help that has_just_ended(): shortly, where others may wait.
  void nap_behind(std::uint32_t mark) noexcept;
  /// The thread sleeps for longer than a nap: the next one is short again.
  void note_sleep() noexcept { last_nap_ = {}; }

 private:
  [[nodiscard]] std::chrono::microseconds first_nap() const noexcept;

  const Naps naps_;
  const bool is_shared_;
  std::chrono::microseconds last_nap_{0};
  std::atomic<int> helpers_{0};
  std::atomic<std::int64_t> helped_until_{0};  // nanoseconds of the steady clock
  std::atomic<std::int64_t> pressed_{0};       // likewise: when a request that presses came last
  detail::FutexWord handed_back_{0};           // how often; the thread naps on it
  std::atomic<bool> is_napping_{false};
};

}  // namespace tessera::rma::server
