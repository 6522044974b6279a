// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/mpi/progress.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <shared_mutex>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/base/thread_without_signals.hpp"
#include "rma/transport/mpi/creation.hpp"

namespace tessera::rma::mpi {
namespace {

using std::chrono::microseconds;

constexpr microseconds min_sleep{30};
constexpr microseconds max_thread_sleep{1000};
constexpr microseconds max_sleep_beside_sleepers{60};
constexpr std::chrono::milliseconds sleep_memory{150};

}  // namespace

Progress::Progress(std::shared_ptr<World> world, std::shared_ptr<detail::Node> node)
    : world_(std::move(world)),
      node_(std::move(node)),
      operations_(world_),
      server_(node_, [this](WorldRank to, const MessageHeader& header) {
        return channel_->send(to, header);
      }) {}

Status Progress::start_messages() {
  TESSERA_ASSIGN_OR_RETURN(
      channel_, MessageChannel::create(
                    world_, [this](const MessageHeader& header, std::span<const std::byte> bytes) {
                      if (header.kind == MessageKind::stay_awake) {
                        wake();
                      }
                      server_.handle(header, bytes);
                    }));
  return {};
}

Status Progress::start_thread(bool stays_awake) {
  TESSERA_ASSIGN_OR_RETURN(thread_, detail::start_thread_with_signals_blocked(
                                        [this, stays_awake] { run(stays_awake); }));
  return {};
}

void Progress::stop_thread() noexcept {
  is_stopped_.store(true);
  wake();
  if (thread_.joinable()) {
    thread_.join();
  }
}

Status Progress::send(WorldRank to, const MessageHeader& header, std::span<const std::byte> bytes) {
  const std::shared_lock no_creation(CreationLock::of_process().progress());
  return channel_->send(to, header, bytes);
}

int Progress::poll() {
  if (!world_->check_thread().ok()) {
    return 0;
  }
  const std::shared_lock no_creation(CreationLock::of_process().progress(), std::try_to_lock);
  if (!no_creation.owns_lock()) {
    return 0;
  }
  const int count = operations_.progress() + channel_->poll();
  server_.deliver_join_messages();
  return count;
}

void Progress::advance() noexcept {
  try_to_poll();
}

int Progress::try_to_poll() noexcept {
  return detail::catch_bad_alloc([this] { return poll(); }, [] { return 0; });
}

// The kernel may otherwise add 50 us to each sleep.
void Progress::run(bool stays_awake) {
  prctl(PR_SET_TIMERSLACK, 1UL);
  auto last_activity = Clock::now();
  microseconds pause = min_sleep;
  while (!is_stopped_.load(std::memory_order_acquire)) {
    const int count = try_to_poll();
    const auto now = Clock::now();
    if (count > 0 || is_woken_.exchange(false)) {
      last_activity = now;
      pause = min_sleep;
    }
    if (stays_awake) {
      std::this_thread::yield();
    } else if (now - last_activity > awake_time) {
      timed_wait(has_sleeping_threads(now) ? std::min(pause, max_sleep_beside_sleepers) : pause);
      pause = std::min(2 * pause, max_thread_sleep);
    } else {
      timed_wait(min_sleep);
    }
  }
}

void Progress::poll_while_waiting() noexcept {
  if (detail::has_spare_processors(node_->policy())) {
    min_polling_ = detail::awake_on_spare_processors;
  }
}

void Progress::timed_wait(std::chrono::nanoseconds period) {
  std::unique_lock guard(wait_mutex_);
  wake_condition_.wait_for(guard, period, [&] { return is_woken_.load() || is_stopped_.load(); });
}

void Progress::wake() noexcept {
  if (is_woken_.exchange(true)) {
    return;
  }
  const std::lock_guard guard(wait_mutex_);
  wake_condition_.notify_one();
}

bool Progress::wait(Completion& done, std::chrono::nanoseconds period) {
  return detail::poll_yielding(Clock::now() + period, [&] {
    while (!done.done() && poll() > 0) {
    }
    return done.done();
  });
}

// Other ranks probably use a rank that waits for them: no other thread sees the one-sided
// operations that MPI serves here.
bool Progress::has_sleeping_threads(Clock::time_point now) const noexcept {
  return now - last_sleep_.load(std::memory_order_relaxed) < sleep_memory;
}

std::chrono::nanoseconds Progress::max_sleep() const noexcept {
  last_sleep_.store(Clock::now(), std::memory_order_relaxed);
  return has_thread() ? std::chrono::nanoseconds::max() : std::chrono::nanoseconds(min_sleep);
}

}  // namespace tessera::rma::mpi
