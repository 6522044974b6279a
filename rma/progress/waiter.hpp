// SPDX-License-Identifier: BSD-3-Clause
//
// Waiter: how a thread waits. It spins, then yields, then sleeps until it is woken. Asleep it wakes
// at intervals, to check whether its peers are alive, and gives up if they are not or at a
// deadline.
//
// What it sleeps on is a parameter of sleep(): a word of shared memory (OnWord), a descriptor
// (OnDescriptor), or a function that waits for a given time (OnStep), if a wake-up may be missed.
//
//     Waiter waiter = node.waiter();
//     const bool is_over = waiter.spin(over) || waiter.sleep(OnWord(word), over, is_peer_gone);
//
// All is in the header, so that the compiler inlines the spin phase with its predicate.
// poll_until() is for events that wake no thread: it polls between timed sleeps.
//
// Threads: a Waiter belongs to one thread and one wait.
#pragma once

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <utility>

#include "rma/base/futex.hpp"
#include "rma/progress/oversubscription_detector.hpp"
#include "rma/progress/progress_delegate.hpp"
#include "rma/progress/wait_policy.hpp"

namespace tessera::rma::detail {

/// What one poll costs: a load, or a system call, beside which a reading of the clock is cheap.
enum class PollCost : std::uint8_t { load, system_call };

/// Calls `ready` until it returns true or `budget` has passed; returns its last result.
template <PollCost cost = PollCost::load, class Ready>
bool spin_until(std::chrono::nanoseconds budget, Ready&& ready) {
  // Reading the clock costs as much as several loads.
  constexpr int polls_per_clock_read = cost == PollCost::load ? 16 : 1;
  const auto start = std::chrono::steady_clock::now();
  do {
    for (int i = 0; i < polls_per_clock_read; ++i) {
      if (ready()) {
        return true;
      }
      if constexpr (cost == PollCost::load) {
        cpu_relax();
      }
    }
  } while (std::chrono::steady_clock::now() - start < budget);
  return cost == PollCost::load && ready();
}

/// Calls `ready` until it returns true or it is time to sleep; returns its last result. Cost: one
/// reading of the clock, and up to five with a yield for each `between_yields`.
template <class Ready>
bool yield_until(const YieldPolicy& policy, Ready&& ready) {
  const auto start = OversubscriptionDetector::Clock::now();
  OversubscriptionDetector& detector = OversubscriptionDetector::for_this_thread();
  if (detector.is_oversubscribed(start)) {
    return ready();
  }
  auto now = start;
  while (now - start < policy.budget) {
    const bool was_away = OversubscriptionDetector::yield();
    if (spin_until(policy.between_yields, ready)) {
      if (was_away) {
        detector.record_lost_slice(OversubscriptionDetector::Clock::now());
      }
      return true;
    }
    now = OversubscriptionDetector::Clock::now();
  }
  return ready();
}

/// Sleeps on a word of shared memory. The thread that changes it calls futex_wake().
class OnWord {
 public:
  static constexpr bool is_step = false;
  explicit OnWord(FutexWord& word) noexcept : word_(word) {}
  // Reads the word before the predicate: a change in between ends the sleep at once.
  void prepare() noexcept { seen_ = word_.load(); }
  void sleep(std::chrono::nanoseconds /*elapsed*/,
             std::chrono::nanoseconds longest) const noexcept {
    futex_wait(word_, seen_, longest);
  }

 private:
  FutexWord& word_;
  std::uint32_t seen_ = 0;
};

/// Sleeps until one of `events` (POLLIN, POLLOUT), an error or the end occurs at a descriptor.
class OnDescriptor {
 public:
  static constexpr bool is_step = false;
  OnDescriptor(int descriptor, short events) noexcept
      : entry_{.fd = descriptor, .events = events, .revents = 0} {}
  void set_events(short events) noexcept { entry_.events = events; }
  void prepare() const noexcept {}
  void sleep(std::chrono::nanoseconds elapsed, std::chrono::nanoseconds longest) noexcept;
  /// Whether such an event ended the last sleep.
  [[nodiscard]] bool is_ready() const noexcept { return entry_.revents != 0; }

 private:
  pollfd entry_;
};

/// Calls `step(period)`, which waits for that time at most. The periods grow with the wait from the
/// first to the longest one of `waits`: a long wait uses little processor time, and a missed
/// wake-up lengthens a wait by at most a quarter.
template <class Step>
class OnStep {
 public:
  static constexpr bool is_step = true;
  OnStep(const TimedWaits& waits, Step step) noexcept : waits_(waits), step_(std::move(step)) {}
  void prepare() const noexcept {}
  void sleep(std::chrono::nanoseconds elapsed, std::chrono::nanoseconds longest) {
    constexpr int parts = 4;
    const auto period = std::clamp(elapsed / parts, waits_.first, waits_.longest);
    step_(std::min(period, longest));
  }

 private:
  const TimedWaits waits_;
  Step step_;
};

class Waiter {
 public:
  using Clock = std::chrono::steady_clock;

  /// `delegate`, if any, is advanced while the thread waits. Requires: the caller then holds no
  /// lock that the delegate's work might take. `policy` and `delegate` outlive the Waiter.
  explicit Waiter(const WaitPolicy& policy, ProgressDelegate* delegate = nullptr) noexcept
      : policy_(policy), delegate_(delegate) {}

  /// sleep() gives up at that time.
  Waiter& until(Clock::time_point deadline) noexcept {
    deadline_ = deadline;
    return *this;
  }

  /// Calls `ready` until it returns true or it is time to sleep; returns its last result. Advances
  /// the delegate after each `polls_per_advance` polls.
  template <PollCost cost = PollCost::load, class Ready>
  bool spin(Ready&& ready, unsigned polls_per_advance = 1) const {
    return delegate_ == nullptr
               ? spin_until<cost>(policy_.spin, ready) || yield_until(policy_.yield, ready)
               : spin_with_progress<cost>(ready, polls_per_advance);
  }

  /// Sleeps until `ready()`, which is called after each wake-up, or until the deadline, or until
  /// `give_up()` returns true, which is called once per liveness interval. Returns whether ready()
  /// returned true. Yields the delegate's work first. Throws what the functions throw.
  template <class On, class Ready, class GiveUp>
  bool sleep(On&& on, Ready&& ready, GiveUp&& give_up);
  template <class On, class Ready>
  bool sleep(On&& on, Ready&& ready) {
    return sleep(std::forward<On>(on), std::forward<Ready>(ready), [] { return false; });
  }

  /// For give_up(): when the wait began; after an OnStep, when its first step ended.
  [[nodiscard]] Clock::time_point began() const noexcept { return began_; }

  /// Called before this thread sleeps without sleep().
  void yield_progress() const noexcept {
    if (delegate_ != nullptr) {
      delegate_->yield_progress();
    }
  }

 private:
  template <PollCost cost, class Ready>
  bool spin_with_progress(Ready&& ready, unsigned polls_per_advance) const;
  [[nodiscard]] std::chrono::nanoseconds advance_before_sleep(
      std::chrono::nanoseconds max_sleep) const noexcept;

  const WaitPolicy& policy_;
  ProgressDelegate* delegate_;
  Clock::time_point deadline_ = Clock::time_point::max();
  Clock::time_point began_{};
};

template <PollCost cost, class Ready>
bool Waiter::spin_with_progress(Ready&& ready, unsigned polls_per_advance) const {
  const ProgressScope progress(delegate_);
  unsigned polls = 0;
  const auto poll = [&] {
    const bool is_ready = ready();
    if (!is_ready && ++polls == polls_per_advance) {
      polls = 0;
      progress.advance();
    }
    return is_ready;
  };
  YieldPolicy yield = policy_.yield;
  yield.budget = std::max(yield.budget, delegate_->min_polling());
  return spin_until<cost>(std::max(policy_.spin, policy_.min_progress_spin), poll) ||
         yield_until(yield, poll);
}

template <class On, class Ready, class GiveUp>
bool Waiter::sleep(On&& on, Ready&& ready, GiveUp&& give_up) {
  constexpr bool is_step = std::remove_reference_t<On>::is_step;
  const std::chrono::nanoseconds max_sleep =
      is_step ? std::chrono::nanoseconds::max() : policy_.liveness_interval;
  const bool has_deadline = deadline_ != Clock::time_point::max();
  // Most waits in steps end with the first one, for which no clock is read.
  bool is_clock_read = !is_step || has_deadline;
  if (is_clock_read) {
    began_ = Clock::now();
  }
  Clock::time_point now = began_;
  Clock::time_point last_check = began_;
  yield_progress();
  while (true) {
    on.prepare();
    if (ready()) {
      return true;
    }
    std::chrono::nanoseconds longest =
        delegate_ == nullptr ? max_sleep : advance_before_sleep(max_sleep);
    if (has_deadline) {
      if (now >= deadline_) {
        return false;
      }
      longest = std::min<std::chrono::nanoseconds>(longest, deadline_ - now);
    }
    on.sleep(now - began_, longest);
    now = Clock::now();
    if (!std::exchange(is_clock_read, true)) {
      began_ = last_check = now;
    } else if (now - last_check >= policy_.liveness_interval) {
      // By the clock: a word may change continually for other threads.
      last_check = now;
      if (ready()) {
        return true;
      }
      if (give_up()) {
        return false;
      }
    }
  }
}

/// Calls `ready` until it returns true, with sleeps in between, or until the deadline; returns its
/// last result. For events that wake no thread.
template <class Ready>
bool poll_until(const TimedWaits& waits, Waiter::Clock::time_point deadline, Ready&& ready) {
  static constexpr WaitPolicy policy{};
  return Waiter(policy).until(deadline).sleep(
      OnStep(waits, [](std::chrono::nanoseconds period) { std::this_thread::sleep_for(period); }),
      ready);
}

/// The same without a deadline.
template <class Ready>
void poll_until(const TimedWaits& waits, Ready&& ready) {
  poll_until(waits, Waiter::Clock::time_point::max(), ready);
}

/// Calls `ready` until it returns true, with yields in between, or until the deadline; returns its
/// last result. For events that come only if this thread polls.
template <class Ready>
bool poll_yielding(Waiter::Clock::time_point deadline, Ready&& ready) {
  while (!ready()) {
    if (deadline != Waiter::Clock::time_point::max() && Waiter::Clock::now() >= deadline) {
      return false;
    }
    std::this_thread::yield();
  }
  return true;
}

/// The same without a deadline.
template <class Ready>
void poll_yielding(Ready&& ready) {
  poll_yielding(Waiter::Clock::time_point::max(), ready);
}

}  // namespace tessera::rma::detail
