// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/client/client_progress.hpp"

#include <pthread.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/base/thread_without_signals.hpp"
#include "rma/node/node.hpp"

namespace tessera::rma::server {
namespace {

// How long the progress thread lets small requests and replies accumulate.
constexpr std::chrono::microseconds batching_delay{50};

// Of a client without a node: its threads sleep at once.
constexpr detail::WaitPolicy asleep{.spin = std::chrono::nanoseconds(0),
                                    .min_progress_spin = std::chrono::nanoseconds(0)};

}  // namespace

ClientProgress::ClientProgress(const ClientOptions& options, Links& links)
    : options_(options), links_(links) {
  started_ = sockets_.open("the queue of events at connections");
  if (!started_.ok()) {
    return;
  }
  Result<std::thread> thread = detail::start_thread_with_signals_blocked([this] { communicate(); });
  if (thread.ok()) {
    thread_ = std::move(thread).take();
  } else {
    started_ = std::move(thread).status();
  }
}

ClientProgress::~ClientProgress() {
  is_ending_ = true;
  {
    const std::lock_guard guard(sleep_mutex_);
    is_wake_requested_ = true;
  }
  work_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
}

int ClientProgress::advance() {
  detail::RdmaContext* const rdma = links_.rdma();
  int answers = 0;
  if (rdma != nullptr) {
    answers += rdma->progress();
    record_arrivals(*rdma);
  }
  for (ClientConnection* const link : links_.all()) {
    if (link->channel().path() == nullptr || link->needs_progress()) {
      answers += link->progress();
    }
  }
  return answers;
}

// A path announces arrivals, so the other links need not be polled.
void ClientProgress::record_arrivals(detail::RdmaContext& rdma) const {
  for (const int descriptor : rdma.take_ready_descriptors()) {
    for (ClientConnection* const link : links_.all()) {
      if (link->channel().descriptor() == descriptor) {
        link->record_arrival();
      }
    }
  }
}

// Called now and then by one of the waiting threads.
void ClientProgress::check_hosts() {
  constexpr std::chrono::seconds every{1};
  constexpr std::uint32_t checks_a_release = 5;
  const auto now = Clock::now().time_since_epoch();
  auto last = checked_.load();
  if (now - last >= every && checked_.compare_exchange_strong(last, now)) {
    const bool gives_back = ++checks_ % checks_a_release == 0;
    for (ClientConnection* const link : links_.all()) {
      link->maintain(gives_back);
    }
    if (detail::RdmaContext* const rdma = links_.rdma(); rdma != nullptr && gives_back) {
      rdma->maintain();
    }
  }
}

const detail::WaitPolicy& ClientProgress::wait_policy() const noexcept {
  return options_.node == nullptr ? asleep : options_.node->policy();
}

detail::Waiter ClientProgress::waiter() const noexcept {
  return options_.node == nullptr ? detail::Waiter(asleep) : options_.node->waiter();
}

// If there is no memory for that, the thread polls again soon.
void ClientProgress::sleep_on_sockets(std::chrono::nanoseconds period) noexcept {
  constexpr std::chrono::nanoseconds soon = std::chrono::milliseconds(1);
  const Status polled = detail::catch_bad_alloc([&] {
    check_hosts();
    poll_sockets(watch_connections() ? std::min(period, detail::max_timed_wait)
                                     : std::min(period, soon));
    return Status();
  });
  if (!polled.ok()) {
    std::this_thread::sleep_for(std::min(period, soon));
  }
}

void ClientProgress::poll_sockets(std::chrono::nanoseconds period) {
  detail::RdmaContext* const rdma = links_.rdma();
  if (rdma != nullptr && !rdma->arm()) {
    return;
  }
  if (rdma != nullptr && rdma->descriptor() < 0) {
    const std::chrono::nanoseconds idle(Clock::now().time_since_epoch().count() - last_event_);
    period = std::min(period, detail::Poller::polling_pause(idle));
  }
  if (sockets_.wait(period)) {
    last_event_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
    if (rdma != nullptr) {
      handle_path_events(*rdma);
    }
  }
}

// Watches for what each connection waits for at present. False if the system refuses a watch.
bool ClientProgress::watch_connections() {
  const std::lock_guard guard(watch_mutex_);
  bool are_watched = true;
  for (ClientConnection* const link : links_.all()) {
    are_watched = link->channel().watch_by(sockets_, link->queue().has_unsent(), link->is_lost()) &&
                  are_watched;
  }
  return are_watched;
}

void ClientProgress::stop_watching(ClientConnection& link, int before) noexcept {
  const std::lock_guard guard(watch_mutex_);
  link.channel().stop_watching(sockets_, before);
}

// A path's descriptor shows its end. Its last data came before.
void ClientProgress::handle_path_events(detail::RdmaContext& rdma) {
  std::array<epoll_event, 16> ready;
  for (const epoll_event& event : sockets_.take(ready)) {
    for (ClientConnection* const link : links_.all()) {
      if (link->channel().descriptor() == event.data.fd && link->channel().path() != nullptr) {
        rdma.progress();
        link->on_readable();
      }
    }
  }
}

// Returns after something came, or when it is time to sleep.
void ClientProgress::spin(const detail::Waiter& waiter, const Completion& done) {
  // Polling a device is cheap compared with an iteration of the agent's work.
  const unsigned polls_per_advance = links_.rdma() == nullptr ? 1 : 8;
  // Polling a socket is a system call, so no pauses are needed in between.
  waiter.spin<detail::PollCost::system_call>([&] { return done.done() || advance() > 0; },
                                             polls_per_advance);
}

// Nothing has woken a thread or completed its wait for a time above the spin limit.
bool ClientProgress::is_quiet() const noexcept {
  return Clock::now().time_since_epoch().count() - last_event_.load(std::memory_order_relaxed) >
         detail::reply_waits.first.count();
}

bool ClientProgress::wait(Completion& done, std::chrono::nanoseconds period) {
  const detail::Waiter waiter = this->waiter();
  waiting_.fetch_add(1);
  if (period <= detail::reply_waits.first || !is_quiet()) {
    spin(waiter, done);
  }
  if (!done.done()) {
    links_.flush();
  }
  if (!done.done()) {
    waiter.yield_progress();  // asleep, this thread does not serve the agent's peers
    sleep_on_sockets(period);
    advance();
  }
  const bool is_done = done.done();
  const std::int64_t now = Clock::now().time_since_epoch().count();
  last_waited_ = now;
  if (is_done) {
    last_event_.store(now, std::memory_order_relaxed);
  }
  waiting_.fetch_sub(1);
  // Other threads left their work to this one, possibly after its last poll. What this thread
  // itself holds back does not matter to them.
  if (is_away() && waiting_.load() == 0 && links_.is_busy()) {
    wake();
  }
  return is_done || done.done();
}

void ClientProgress::wait_briefly(std::chrono::nanoseconds period) {
  Completion never;
  never.begin();
  wait(never, period);
  never.end({});
}

// Waiting threads poll their operation repeatedly; between two polls they still count as waiting.
bool ClientProgress::is_waited_for() const {
  constexpr std::chrono::nanoseconds between_polls = std::chrono::microseconds(200);
  return waiting_.load() > 0 ||
         Clock::now().time_since_epoch().count() - last_waited_.load() < between_polls.count();
}

// A thread sends what it holds back itself.
void ClientProgress::wake_if_away() {
  if (CoalescedMessages::is_any_kept()) {
    return;
  }
  if (is_away() && waiting_.load() == 0) {
    wake();
  }
}

void ClientProgress::wake_now() {
  if ((is_asleep_.load() || is_waiting_.load()) && waiting_.load() == 0) {
    wake();
  }
}

void ClientProgress::wake() {
  {
    const std::lock_guard guard(sleep_mutex_);
    is_wake_requested_ = true;
  }
  work_.notify_all();
}

// The wait is long if nothing arrives for the waiting threads. Returns whether wake_now() ended it.
bool ClientProgress::wait_for_request() {
  const bool is_long = is_quiet();
  std::unique_lock guard(sleep_mutex_);
  is_waiting_ = true;
  is_waiting_long_ = is_long;
  const bool was_woken =
      work_.wait_for(guard, is_long ? detail::max_timed_wait : detail::reply_waits.first,
                     [&] { return is_wake_requested_; });
  is_waiting_ = false;
  is_waiting_long_ = false;
  is_wake_requested_ = false;
  return was_woken;
}

// A thread that starts a long transfer may wait for it at once, and is faster alone then.
void ClientProgress::let_requests_accumulate() const {
  if (links_.is_streaming() && waiting_.load() == 0) {
    std::this_thread::sleep_for(batching_delay);
  }
}

// The progress thread. Waiting threads do its work instead of it.
void ClientProgress::communicate() noexcept {
  pthread_setname_np(pthread_self(), "tessera-comm");
  bool continues_stream = false;
  while (!is_ending_) {
    if (links_.is_busy()) {
      continues_stream = continues_stream && links_.is_streaming() && waiting_.load() == 0;
      if (!continues_stream && is_waited_for()) {
        continues_stream = wait_for_request();
        let_requests_accumulate();
        continue;
      }
      if (!links_.is_streaming()) {
        std::this_thread::sleep_for(batching_delay);
      }
      if (advance() == 0) {
        links_.flush();
        sleep_on_sockets(detail::reply_waits.first);
      }
      continue;
    }
    std::unique_lock guard(sleep_mutex_);
    // Sets is_asleep_ before the check: a thread that posts in between sees it, or its request is
    // seen here.
    is_asleep_ = true;
    work_.wait(guard, [&] { return is_wake_requested_ || links_.is_busy(); });
    is_wake_requested_ = false;
    is_asleep_ = false;
    guard.unlock();
    continues_stream = links_.is_streaming();
    let_requests_accumulate();
  }
}

}  // namespace tessera::rma::server
