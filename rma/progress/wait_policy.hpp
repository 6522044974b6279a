// SPDX-License-Identifier: BSD-3-Clause
//
// How long the threads of a rank spin, yield and sleep while they wait: the two presets, one for a
// node with a processor for each rank and one without, and the times that both have in common.
// TESSERA_TUNE=spin_ns and liveness_ms change them.
//
// Waiters spin briefly because a hand-over between two running processes takes well under a
// microsecond. Then they yield and soon sleep, because on a machine with fewer processors than
// ranks the peer can only run while the waiter does not. MPI codes that only yield lose a factor of
// 10^4 there. docs/decisions/0074 explains the yield phase.
#pragma once

#include <chrono>

namespace tessera::rma {
struct Settings;
}

namespace tessera::rma::detail {

/// How a waiter yields after its first spin.
struct YieldPolicy {
  std::chrono::nanoseconds budget{0};          ///< length of the yield phase; 0: none
  std::chrono::nanoseconds between_yields{0};  ///< time that it spins between yields; 0: a few
                                               ///< polls
};

/// How a thread waits.
struct WaitPolicy {
  std::chrono::nanoseconds spin{1000};
  std::chrono::nanoseconds min_progress_spin{50'000};  ///< the least if it also progresses others'
                                                       ///< operations (progress_delegate.hpp)
  YieldPolicy yield{};                                 ///< yield phase after the spin
  std::chrono::nanoseconds liveness_interval{100'000'000};  ///< between liveness checks of peers
};

/// With a processor for each rank, the peer answers within microseconds, or else it computes.
/// Staying awake until it answers is then worth more than the time that sleeping would free, up to
/// some ten times the cost of sleeping and waking. Serving other ranks is worth as much as an
/// agent's own staying awake.
inline constexpr WaitPolicy with_spare_processors{
    .spin = std::chrono::microseconds(20),
    .min_progress_spin = std::chrono::microseconds(50),
    .yield = {.budget = std::chrono::milliseconds(1),
              .between_yields = std::chrono::microseconds(50)}};

/// Without, the peer can run only if this rank yields and soon sleeps. Letting other ranks run is
/// worth more than serving them.
inline constexpr WaitPolicy with_scarce_processors{
    .spin = std::chrono::nanoseconds(300),
    .min_progress_spin = std::chrono::microseconds(5),
    .yield = {.budget = std::chrono::microseconds(100),
              .between_yields = std::chrono::nanoseconds(300)}};

/// Whether the node has a processor for each rank, and the user has not set how long waits spin.
[[nodiscard]] constexpr bool has_spare_processors(const WaitPolicy& policy) noexcept {
  return policy.yield.budget >= with_spare_processors.yield.budget;
}

/// The preset for a node with that many ranks and processors, changed by the settings. A spin that
/// the user sets is not followed by a yield phase.
[[nodiscard]] WaitPolicy choose_wait_policy(const Settings& settings, int node_ranks,
                                            int node_processors) noexcept;

/// How long an agent polls after a request (docs/decisions/0066). On spare processors that costs no
/// rank anything. But other jobs may want the processors, or the energy, so it ends after a second;
/// waking then takes microseconds.
inline constexpr std::chrono::nanoseconds awake_on_spare_processors = std::chrono::seconds(1);
inline constexpr std::chrono::nanoseconds awake_on_scarce_processors =
    std::chrono::microseconds(50);

/// The longest timed wait of a thread that waits for a reply, for room or for another rank.
inline constexpr std::chrono::nanoseconds max_timed_wait = std::chrono::milliseconds(10);

/// The timed waits of a thread whose wake-up may be missed: the first one, and the longest one.
struct TimedWaits {
  std::chrono::nanoseconds first;
  std::chrono::nanoseconds longest = max_timed_wait;
};
/// For the end of operations. Short at first: some transports advance only when they are polled.
inline constexpr TimedWaits operation_waits{.first = std::chrono::microseconds(50)};
/// For replies, while other threads may take the reply that a thread waits for.
inline constexpr TimedWaits reply_waits{.first = std::chrono::milliseconds(1)};
/// For memory or a lock that other threads release without waking anyone.
inline constexpr TimedWaits release_waits{.first = std::chrono::microseconds(50)};
/// For other ranks to join, or to leave.
inline constexpr TimedWaits rank_waits{.first = std::chrono::milliseconds(1)};

}  // namespace tessera::rma::detail
