// SPDX-License-Identifier: BSD-3-Clause
#include "rma/progress/progress_handoff.hpp"

#include <algorithm>

namespace tessera::rma::detail {
namespace {

using Clock = std::chrono::steady_clock;

// How long an urgent request makes further ones likely.
constexpr std::chrono::milliseconds urgency_period{10};
// Every event wakes a sleeping thread, which costs the thread that is about to poll it anyway. So
// shortly after a delegation, the agent's thread polls between timed waits instead.
constexpr std::chrono::milliseconds soon{1};

// Times that several threads read: nanoseconds of the steady clock.
using AtomicTime = std::atomic<std::int64_t>;

void record_now(AtomicTime& moment) noexcept {
  moment.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
}

bool is_within(std::chrono::nanoseconds time, const AtomicTime& moment) noexcept {
  return Clock::now().time_since_epoch().count() - moment.load(std::memory_order_relaxed) <
         time.count();
}

}  // namespace

void ProgressHandoff::end() noexcept {
  record_now(last_end_);
  delegations_.fetch_sub(1);
}

// Resets the state as if the last delegation had ended long ago, so that the thread does not wait
// for more.
void ProgressHandoff::take_back() noexcept {
  if (delegations_.load() > 0) {
    return;
  }
  last_end_.store(0, std::memory_order_relaxed);
  resume_count_.fetch_add(1);
  if (is_waiting_.load()) {
    futex_wake(resume_count_, 1);
  }
}

void ProgressHandoff::record_urgent() noexcept {
  record_now(last_urgent_);
}

bool ProgressHandoff::is_delegated() const noexcept {
  return delegations_.load() > 0 || is_within(first_wait(), last_end_);
}

bool ProgressHandoff::has_just_ended() const noexcept {
  return is_within(soon, last_end_);
}

// Long if neither a peer waits nor, while this process's rank computes, another rank of the node.
std::chrono::microseconds ProgressHandoff::first_wait() const noexcept {
  return is_shared_ || is_within(urgency_period, last_urgent_) ? limits_.waited_for
                                                               : limits_.when_idle;
}

void ProgressHandoff::timed_wait(std::uint32_t mark) noexcept {
  last_wait_ = std::clamp(2 * last_wait_, first_wait(), limits_.longest);
  is_waiting_.store(true);
  futex_wait(resume_count_, mark, last_wait_);
  is_waiting_.store(false);
}

void ProgressHandoff::timed_wait_after_delegation(std::uint32_t mark) noexcept {
  if (is_shared_) {
    last_wait_ = {};
  }
  timed_wait(mark);
}

}  // namespace tessera::rma::detail
