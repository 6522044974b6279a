// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/relief.hpp"

#include <algorithm>

namespace tessera::rma::server {
namespace {

using Clock = std::chrono::steady_clock;

// How long an urgent request makes further ones likely.
constexpr std::chrono::milliseconds pressing{10};
// Every event wakes a sleeping thread, which costs the thread that is about to poll it anyway. So
// shortly after help, the agent's thread polls between timed waits instead.
constexpr std::chrono::milliseconds soon{1};

// Times that several threads read: nanoseconds of the steady clock.
using Moment = std::atomic<std::int64_t>;

void note_now(Moment& moment) noexcept {
  moment.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
}

bool is_within(std::chrono::nanoseconds time, const Moment& moment) noexcept {
  return Clock::now().time_since_epoch().count() - moment.load(std::memory_order_relaxed) <
         time.count();
}

}  // namespace

void Relief::end() noexcept {
  note_now(helped_until_);
  helpers_.fetch_sub(1);
}

// Resets the state as if the last help had ended long ago, so that the thread does not wait for
// more.
void Relief::take_back() noexcept {
  if (helpers_.load() > 0) {
    return;
  }
  helped_until_.store(0, std::memory_order_relaxed);
  handed_back_.fetch_add(1);
  if (is_napping_.load()) {
    detail::futex_wake(handed_back_, 1);
  }
}

void Relief::note_pressing() noexcept {
  note_now(pressed_);
}

bool Relief::is_there() const noexcept {
  return helpers_.load() > 0 || is_within(first_nap(), helped_until_);
}

bool Relief::has_just_ended() const noexcept {
  return is_within(soon, helped_until_);
}

// Long if neither a peer waits nor, while this process's rank computes, another rank of the node.
std::chrono::microseconds Relief::first_nap() const noexcept {
  return is_shared_ || is_within(pressing, pressed_) ? naps_.waited_for : naps_.by_itself;
}

void Relief::nap(std::uint32_t mark) noexcept {
  last_nap_ = std::clamp(2 * last_nap_, first_nap(), naps_.longest);
  is_napping_.store(true);
  detail::futex_wait(handed_back_, mark, last_nap_);
  is_napping_.store(false);
}

void Relief::nap_behind(std::uint32_t mark) noexcept {
  if (is_shared_) {
    last_nap_ = {};
  }
  nap(mark);
}

}  // namespace tessera::rma::server
