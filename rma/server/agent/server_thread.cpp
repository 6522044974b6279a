// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/agent/server_thread.hpp"
#include "rma/base/catch_bad_alloc.hpp"

#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/base/thread_without_signals.hpp"

namespace tessera::rma::server {
namespace {

using Clock = std::chrono::steady_clock;

// How often the thread checks for a free descriptor and maintains all connections.
constexpr std::chrono::milliseconds maintenance_interval{1000};
// How long one peer may be served before the others are polled.
constexpr std::chrono::microseconds max_iteration_time{200};

// Whether the peer has closed or reset its new connection without sending anything.
bool has_ended(int socket) noexcept {
  char first = 0;
  const ssize_t bytes = recv(socket, &first, 1, MSG_PEEK | MSG_DONTWAIT);
  return bytes == 0 || (bytes < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
}

}  // namespace

ServerThread::ServerThread(AgentState& shared, int number)
    : shared_(shared),
      number_(number),
      node_(*shared.node),
      handoff_(shared.options.timed_waits, shared.node->size() > 1),
      connections_(shared, events_, number) {}

Result<std::unique_ptr<ServerThread>> ServerThread::create(AgentState& shared, int number) {
  std::unique_ptr<ServerThread> thread(new ServerThread(shared, number));
  TESSERA_RETURN_IF_ERROR(thread->open());
  return thread;
}

Status ServerThread::start() {
  TESSERA_ASSIGN_OR_RETURN(thread_, detail::start_thread_with_signals_blocked([this] { run(); }));
  return {};
}

ServerThread::~ServerThread() {
  wake();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void ServerThread::wake() const noexcept {
  const std::uint64_t one = 1;
  // A full counter wakes the thread, too.
  static_cast<void>(!write(waking_.get(), &one, sizeof(one)));
}

void ServerThread::take_on(std::unique_ptr<Channel> channel) {
  {
    const std::lock_guard guard(new_mutex_);
    new_.push_back(std::move(channel));
  }
  connections_.announce();
  wake();
}

Status ServerThread::open() {
  TESSERA_RETURN_IF_ERROR(events_.open("the agent's event queue"));
  waking_ = detail::Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (waking_.get() < 0) {
    return detail::no_descriptor("the event that wakes the agent");
  }
  if (number_ == 0) {
    TESSERA_RETURN_IF_ERROR(events_.watch(shared_.listener.descriptor(), EPOLLIN));
  }
  TESSERA_RETURN_IF_ERROR(events_.watch(waking_.get(), EPOLLIN));
  if (shared_.options.rdma_provider != nullptr) {
    TESSERA_RETURN_IF_ERROR(open_rdma());
  }
  // Edge-triggered: processes of this node write to the bell, and no thread reads it.
  return events_.watch(node_.memory().agent_bell(), EPOLLIN | EPOLLET);
}

// Without RDMA, the agent refuses requests to move, and peers continue over TCP.
Status ServerThread::open_rdma() {
  auto made = shared_.options.rdma_provider->create();
  if (!made.ok()) {
    shared_.options.warn(shared_.name() + "is reached over TCP: " + made.status().message());
    return {};
  }
  rdma_ = std::move(made).take();
  connections_.offer(*rdma_);
  return events_.watch(rdma_->descriptor(), EPOLLIN);
}

void ServerThread::run() noexcept {
  pthread_setname_np(pthread_self(), "tessera-agent");
  prctl(PR_SET_TIMERSLACK, 1000UL);  // ns: timed waits must not last longer than requested
  while (!shared_.is_ending) {
    const std::uint32_t mark = handoff_.mark();
    if (handoff_.is_delegated()) {
      handoff_.timed_wait(mark);
      continue;
    }
    bool is_busy = false;
    bool is_awake = false;
    {
      const std::lock_guard guard(iteration_mutex_);
      is_busy = poll_once();
      record_iteration(is_busy);
      is_awake = stays_awake();
    }
    if (is_busy) {
      continue;
    }
    if (is_awake) {
      // A rank that this iteration woke may be waiting for this very core.
      was_preempted_ = detail::OversubscriptionDetector::yield();
    } else if (handoff_.has_just_ended()) {
      handoff_.timed_wait_after_delegation(mark);
    } else {
      handoff_.reset_timed_wait();
      sleep();
    }
  }
  const std::lock_guard guard(iteration_mutex_);
  connections_.send_bye();
}

void ServerThread::advance() noexcept {
  const std::unique_lock guard(iteration_mutex_, std::try_to_lock);
  if (!guard.owns_lock() || shared_.is_ending) {
    return;
  }
  poll_once();
  if (connections_.take_urgent()) {
    handoff_.record_urgent();
  }
  // The thread may have been about to sleep for longer than the new requests allow.
  if (max_sleep().count() < sleeps_ms_.load()) {
    sleeps_ms_.store(0);
    wake();
  }
}

// Without memory, the next iteration tries again.
bool ServerThread::poll_once() noexcept {
  return detail::catch_bad_alloc([this] { return poll_peers(); }, [] { return false; });
}

// Does the pending work; returns whether there was any. Polling all peers costs more than polling
// the one that is most likely to have sent something.
bool ServerThread::poll_peers() {
  constexpr int rounds = 8;
  if (was_rung()) {
    answer_locks();
  }
  const bool has_arrivals = serve_rdma_peers();
  const bool is_busy = connections_.serve_active() || has_arrivals;
  // The rank that waits for this may run now; the other peers are polled in the next iteration.
  if (connections_.take_latency_critical() && !std::exchange(are_others_deferred_, true)) {
    last_arrival_ = Clock::now();
    return true;
  }
  auto now = Clock::now();
  last_arrival_ = is_busy ? now : last_arrival_;
  if (is_busy && now - last_poll_all_ < max_iteration_time) {
    return true;
  }
  last_poll_all_ = now;
  are_others_deferred_ = false;
  poll_count_ = (poll_count_ + 1) % rounds;
  const bool asks_all = is_busy || poll_count_ == 0 || !connections_.has_active() || has_events_;
  const bool came = asks_all && take_events();
  if (came) {
    now = Clock::now();
    last_arrival_ = now;
  }
  maintain(now);
  return is_busy || came;
}

// Serves the peers whose data arrived over RDMA.
bool ServerThread::serve_rdma_peers() {
  if (rdma_ == nullptr) {
    return false;
  }
  const bool came = rdma_->progress() > 0;
  for (const int fd : rdma_->take_ready_descriptors()) {
    connections_.serve(fd);
  }
  return came;
}

// Returns whether anything came from peers. They go before new connections.
bool ServerThread::take_events() {
  std::array<epoll_event, 64> ready;
  has_events_ = false;
  bool came = false;
  bool has_callers = false;
  for (const epoll_event& event : events_.take(ready)) {
    if (rdma_ != nullptr && event.data.fd == rdma_->descriptor()) {
      continue;  // it stays readable until the thread is about to sleep
    }
    if (event.data.fd == shared_.listener.descriptor()) {
      has_callers = true;
      continue;
    }
    if (event.data.fd == waking_.get()) {
      begin_with_new();
      came = true;
    } else if (event.data.fd == node_.memory().agent_bell()) {
      came = true;
    } else {
      serve_rdma_peers();  // the last data of a path, which came before its end
      came = connections_.handle_event(event.data.fd) || came;
    }
  }
  if (has_callers) {
    accept_some();
  }
  return came;
}

void ServerThread::maintain(TimePoint now) {
  if (now - last_lock_check_ >= max_sleep()) {
    last_lock_check_ = now;
    answer_locks();
  }
  listen_again(now);
  connections_.maintain(now);
}

void ServerThread::answer_locks() {
  seen_rings_ = node_.memory().header().agent_bell.rings.load();
  connections_.answer_locks();
}

bool ServerThread::stays_awake() const {
  const PollDuration wanted = shared_.options.stay_awake;
  const auto now = Clock::now();
  return wanted == PollDuration::max() ||
         (now - last_arrival_ < wanted && !oversubscription_.is_oversubscribed(now));
}

// A computing thread keeps the core for a time slice of some milliseconds; a sleeping thread gets
// the core as soon as something comes. So if something came while the agent had yielded, the agent
// sleeps instead of polling, for a time that grows.
void ServerThread::record_iteration(bool is_busy) {
  if (connections_.take_urgent()) {
    handoff_.record_urgent();
  }
  if (std::exchange(was_preempted_, false) && is_busy) {
    oversubscription_.record_lost_slice(Clock::now());
  }
}

// A rank that rings the bell from now on wakes the thread; an earlier ring is seen at once. Events
// stay in the queue, because another thread may take them in advance() meanwhile.
void ServerThread::sleep() {
  std::atomic<std::uint32_t>& sleepers = node_.memory().header().agent_bell.sleepers;
  sleepers.fetch_add(1);
  std::chrono::nanoseconds longest{};
  {
    // A thread that calls advance() later finds the length, and wakes this thread if it is too
    // long.
    const std::lock_guard guard(iteration_mutex_);
    const std::chrono::milliseconds wanted = max_sleep();
    longest = wanted;
    sleeps_ms_.store(wanted.count());
    if (rdma_ != nullptr && rdma_->descriptor() < 0) {
      longest = std::min(longest, detail::Poller::polling_pause(Clock::now() - last_arrival_));
    }
  }
  const bool may_sleep = !was_rung() && (rdma_ == nullptr || rdma_->arm());
  const bool has_events = events_.wait(may_sleep ? longest : std::chrono::nanoseconds(0));
  sleeps_ms_.store(0);
  sleepers.fetch_sub(1);
  if (has_events) {
    has_events_ = true;
  }
}

bool ServerThread::was_rung() const noexcept {
  return node_.memory().header().agent_bell.rings.load(std::memory_order_relaxed) != seen_rings_;
}

std::chrono::milliseconds ServerThread::max_sleep() const {
  auto longest = std::min(maintenance_interval, connections_.max_lock_delay());
  if (!is_listening_) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(listens_again_ - Clock::now());
    longest = std::clamp(left, std::chrono::milliseconds(0), longest);
  }
  return longest;
}

// Accepts a few at a time, so that peers are served in between. The others wait in the listener's
// queue.
void ServerThread::accept_some() {
  constexpr int most = 16;
  std::uint64_t gone = 0;
  for (int taken = 0; taken < most; ++taken) {
    auto channel = shared_.listener.accept();
    if (!channel.ok()) {
      // The pending connection stays in the listener's queue. Without this pause epoll would report
      // it again immediately and endlessly.
      if (!std::exchange(is_short_of_descriptors_, true)) {
        shared_.options.warn(
            shared_.name() +
            "cannot accept a connection until a descriptor is free: " + channel.status().message());
      }
      stop_listening(Clock::now() + maintenance_interval);
      return;
    }
    if (*channel == nullptr) {
      break;
    }
    is_short_of_descriptors_ = false;
    if (has_ended((*channel)->descriptor())) {
      ++gone;
    } else {
      assign_to_least_loaded(std::move(*channel));
    }
  }
  check_for_flood(gone);
}

// Many connections that close at once, or that were dropped in favour of others, indicate an attack
// or a port scan. The thread then pauses accepting, so that it has the processor for peers.
void ServerThread::check_for_flood(std::uint64_t gone) {
  constexpr std::uint64_t many = 8;
  constexpr std::chrono::milliseconds pause{1};
  const std::uint64_t dropped_unauthenticated = connections_.dropped_unauthenticated();
  if (gone + dropped_unauthenticated - std::exchange(dropped_before_, dropped_unauthenticated) >=
      many) {
    stop_listening(Clock::now() + pause);
  }
}

void ServerThread::assign_to_least_loaded(std::unique_ptr<Channel> channel) {
  ServerThread& idlest = **std::min_element(
      shared_.threads.begin(), shared_.threads.end(),
      [](const ServerThread* a, const ServerThread* b) { return a->load() < b->load(); });
  if (&idlest != this) {
    idlest.take_on(std::move(channel));
  } else {
    connections_.announce();
    connections_.begin(std::move(channel));
  }
}

void ServerThread::begin_with_new() {
  std::uint64_t count = 0;
  static_cast<void>(!read(waking_.get(), &count, sizeof(count)));
  std::vector<std::unique_ptr<Channel>> mine;
  {
    const std::lock_guard guard(new_mutex_);
    mine.swap(new_);
  }
  for (auto& channel : mine) {
    connections_.begin(std::move(channel));
  }
}

void ServerThread::stop_listening(TimePoint until) {
  events_.leave(shared_.listener.descriptor());
  is_listening_ = false;
  listens_again_ = until;
  ended_before_ = connections_.ended();
}

// Each connection that ended freed a descriptor.
void ServerThread::listen_again(TimePoint now) {
  const bool has_descriptor = is_short_of_descriptors_ && connections_.ended() != ended_before_;
  if (!is_listening_ && (now >= listens_again_ || has_descriptor)) {
    is_listening_ = events_.watch(shared_.listener.descriptor(), EPOLLIN).ok();
  }
}

}  // namespace tessera::rma::server
