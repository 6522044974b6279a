// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/agent_thread.hpp"

#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "rma/server/deaf_thread.hpp"

namespace tessera::rma::server {
namespace {

using Clock = std::chrono::steady_clock;

// How often the thread checks for a free descriptor and maintains all connections.
constexpr std::chrono::milliseconds look_period{1000};
// How long one peer may be served before the others are polled.
constexpr std::chrono::microseconds longest_turn{200};

// Whether the peer has closed or reset its new connection without sending anything.
bool has_ended(int socket) noexcept {
  char first = 0;
  const ssize_t bytes = recv(socket, &first, 1, MSG_PEEK | MSG_DONTWAIT);
  return bytes == 0 || (bytes < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
}

}  // namespace

AgentThread::AgentThread(AgentShared& shared, int number)
    : shared_(shared),
      number_(number),
      node_(*shared.node),
      relief_(shared.options.naps, shared.node->size() > 1),
      conversations_(shared, events_, number) {}

Result<std::unique_ptr<AgentThread>> AgentThread::create(AgentShared& shared, int number) {
  std::unique_ptr<AgentThread> thread(new AgentThread(shared, number));
  TESSERA_RETURN_IF_ERROR(thread->open());
  return thread;
}

Status AgentThread::start() {
  TESSERA_ASSIGN_OR_RETURN(thread_, start_deaf([this] { run(); }));
  return {};
}

AgentThread::~AgentThread() {
  wake();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void AgentThread::wake() const noexcept {
  const std::uint64_t one = 1;
  // A full counter wakes the thread, too.
  static_cast<void>(!write(waking_.get(), &one, sizeof(one)));
}

void AgentThread::take_on(std::unique_ptr<Channel> channel) {
  {
    const std::lock_guard guard(new_mutex_);
    new_.push_back(std::move(channel));
  }
  conversations_.announce();
  wake();
}

Status AgentThread::open() {
  TESSERA_RETURN_IF_ERROR(events_.open());
  waking_ = detail::Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (waking_.get() < 0) {
    return no_descriptor("the event that wakes the agent");
  }
  if (number_ == 0) {
    TESSERA_RETURN_IF_ERROR(events_.watch(shared_.listener.descriptor(), EPOLLIN));
  }
  TESSERA_RETURN_IF_ERROR(events_.watch(waking_.get(), EPOLLIN));
  if (shared_.options.fabrics != nullptr) {
    TESSERA_RETURN_IF_ERROR(open_fabric());
  }
  // Edge-triggered: processes of this node write to the bell, and no thread reads it.
  return events_.watch(node_.memory().agent_bell(), EPOLLIN | EPOLLET);
}

// Without a fabric, peers that ask for a path are refused and continue over TCP.
Status AgentThread::open_fabric() {
  auto made = shared_.options.fabrics->create();
  if (!made.ok()) {
    shared_.options.warn("this node's agent is reached over TCP: " + made.status().message());
    return {};
  }
  fabric_ = std::move(made).take();
  conversations_.offer(*fabric_);
  return events_.watch(fabric_->descriptor(), EPOLLIN);
}

void AgentThread::run() noexcept {
  pthread_setname_np(pthread_self(), "tessera-agent");
  prctl(PR_SET_TIMERSLACK, 1000UL);  // ns: timed waits must not last longer than requested
  while (!shared_.is_ending) {
    const std::uint32_t mark = relief_.mark();
    if (relief_.is_there()) {
      relief_.nap(mark);
      continue;
    }
    bool is_busy = false;
    bool is_awake = false;
    {
      const std::lock_guard turn(turn_);
      is_busy = take_turn();
      note_turn(is_busy);
      is_awake = stays_awake();
    }
    if (is_busy) {
      continue;
    }
    if (is_awake) {
      // A rank that this iteration woke may be waiting for this very core.
      was_away_ = detail::Crowd::give_way();
    } else if (relief_.has_just_ended()) {
      relief_.nap_behind(mark);
    } else {
      relief_.note_sleep();
      sleep();
    }
  }
  const std::lock_guard turn(turn_);
  conversations_.say_bye();
}

void AgentThread::help() noexcept {
  const std::unique_lock turn(turn_, std::try_to_lock);
  if (!turn.owns_lock() || shared_.is_ending) {
    return;
  }
  take_turn();
  // The thread may have been about to sleep for longer than the new requests allow.
  if (longest_sleep().count() < sleeps_ms_.load()) {
    sleeps_ms_.store(0);
    wake();
  }
}

// Does the pending work; returns whether there was any.
bool AgentThread::take_turn() {
  const bool is_busy = look_around();
  if (conversations_.take_pressed()) {
    relief_.note_pressing();
  }
  return is_busy;
}

// Polling all peers costs more than polling the one that is most likely to have sent something.
bool AgentThread::look_around() {
  constexpr int rounds = 8;
  if (was_rung()) {
    answer_locks();
  }
  const bool has_arrivals = take_arrivals();
  const bool is_busy = conversations_.hear_active() || has_arrivals;
  // The rank that waits for this may run now; the other peers are polled in the next iteration.
  if (conversations_.take_awaited() && !std::exchange(are_put_off_, true)) {
    heard_ = Clock::now();
    return true;
  }
  auto now = Clock::now();
  heard_ = is_busy ? now : heard_;
  if (is_busy && now - asked_ < longest_turn) {
    return true;
  }
  asked_ = now;
  are_put_off_ = false;
  looks_ = (looks_ + 1) % rounds;
  const bool asks_all = is_busy || looks_ == 0 || !conversations_.has_active() || has_events_;
  const bool came = asks_all && take_events();
  if (came) {
    now = Clock::now();
    heard_ = now;
  }
  look_after_all(now);
  return is_busy || came;
}

// Serves the peers whose data came over the fabric.
bool AgentThread::take_arrivals() {
  if (fabric_ == nullptr) {
    return false;
  }
  const bool came = fabric_->progress() > 0;
  for (const int fd : fabric_->take_arrivals()) {
    conversations_.serve(fd);
  }
  return came;
}

// Returns whether anything came from peers. They go before new connections.
bool AgentThread::take_events() {
  std::array<epoll_event, 64> places;
  has_events_ = false;
  bool came = false;
  bool has_callers = false;
  for (const epoll_event& event : events_.take(places)) {
    if (fabric_ != nullptr && event.data.fd == fabric_->descriptor()) {
      continue;  // it stays readable until the thread is about to sleep
    }
    if (event.data.fd == shared_.listener.descriptor()) {
      has_callers = true;
      continue;
    }
    came = take_event(event.data.fd) || came;
  }
  if (has_callers) {
    accept_some();
  }
  return came;
}

bool AgentThread::take_event(int fd) {
  if (fd == waking_.get()) {
    begin_with_new();
  } else if (fd != node_.memory().agent_bell()) {
    take_arrivals();  // the last data of a path, which came before its end
    return conversations_.heed(fd);
  }
  return true;
}

void AgentThread::look_after_all(TimePoint now) {
  if (now - looked_ >= longest_sleep()) {
    looked_ = now;
    answer_locks();
  }
  listen_again(now);
  conversations_.look_after(now);
}

void AgentThread::answer_locks() {
  heard_rings_ = node_.memory().header().agent_bell.rings.load();
  conversations_.answer_locks();
}

bool AgentThread::stays_awake() const {
  const StayAwake wanted = shared_.options.stay_awake;
  const auto now = Clock::now();
  return wanted == StayAwake::max() || (now - heard_ < wanted && !crowd_.is_here(now));
}

// A computing thread keeps the core for a time slice of some milliseconds; a sleeping thread gets
// the core as soon as something comes. So if something came while the agent had yielded, the agent
// sleeps instead of polling, for a time that grows.
void AgentThread::note_turn(bool is_busy) {
  if (std::exchange(was_away_, false) && is_busy) {
    crowd_.note_loss(Clock::now());
  }
}

// A rank that rings the bell from now on wakes the thread; an earlier ring is seen at once. Events
// stay in the queue, because a helping thread may take them meanwhile.
void AgentThread::sleep() {
  std::atomic<std::uint32_t>& sleepers = node_.memory().header().agent_bell.sleepers;
  sleepers.fetch_add(1);
  std::chrono::milliseconds longest{};
  {
    // A thread that helps after this finds the length, and wakes this thread if that is too long.
    const std::lock_guard turn(turn_);
    longest = longest_sleep();
    sleeps_ms_.store(longest.count());
  }
  const bool has_events = events_.has_any(may_sleep() ? longest : std::chrono::milliseconds(0));
  sleeps_ms_.store(0);
  sleepers.fetch_sub(1);
  if (has_events) {
    has_events_ = true;
  }
}

bool AgentThread::may_sleep() {
  return !was_rung() && (fabric_ == nullptr || fabric_->arm());
}

bool AgentThread::was_rung() const noexcept {
  return node_.memory().header().agent_bell.rings.load(std::memory_order_relaxed) != heard_rings_;
}

std::chrono::milliseconds AgentThread::longest_sleep() const {
  auto longest = std::min(look_period, conversations_.next_look());
  if (!is_listening_) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(listens_again_ - Clock::now());
    longest = std::clamp(left, std::chrono::milliseconds(0), longest);
  }
  return longest;
}

// Accepts a few at a time, so that peers are served in between. The others wait in the listener's
// queue.
void AgentThread::accept_some() {
  constexpr int most = 16;
  std::uint64_t gone = 0;
  for (int taken = 0; taken < most; ++taken) {
    auto channel = shared_.listener.accept();
    if (!channel.ok()) {
      stop_listening(channel.status());
      return;
    }
    if (*channel == nullptr) {
      break;
    }
    is_short_of_descriptors_ = false;
    if (has_ended((*channel)->descriptor())) {
      ++gone;
    } else {
      give_to_idlest(std::move(*channel));
    }
  }
  note_strangers(gone);
}

// Many connections that close at once, or that were dropped in favour of others, indicate an attack
// or a port scan. The thread then pauses accepting, so that it has the processor for peers.
void AgentThread::note_strangers(std::uint64_t gone) {
  constexpr std::uint64_t many = 8;
  constexpr std::chrono::milliseconds pause{1};
  const std::uint64_t thrown_out = conversations_.thrown_out();
  if (gone + thrown_out - std::exchange(strangers_before_, thrown_out) >= many) {
    stop_listening(Clock::now() + pause);
  }
}

void AgentThread::give_to_idlest(std::unique_ptr<Channel> channel) {
  AgentThread& idlest = **std::min_element(
      shared_.threads.begin(), shared_.threads.end(),
      [](const AgentThread* a, const AgentThread* b) { return a->load() < b->load(); });
  if (&idlest != this) {
    idlest.take_on(std::move(channel));
  } else {
    conversations_.announce();
    conversations_.begin(std::move(channel));
  }
}

void AgentThread::begin_with_new() {
  std::uint64_t count = 0;
  static_cast<void>(!read(waking_.get(), &count, sizeof(count)));
  std::vector<std::unique_ptr<Channel>> mine;
  {
    const std::lock_guard guard(new_mutex_);
    mine.swap(new_);
  }
  for (auto& channel : mine) {
    conversations_.begin(std::move(channel));
  }
}

// The pending connection stays in the listener's queue. Without this pause epoll would report it
// again immediately and endlessly.
void AgentThread::stop_listening(const Status& why) {
  if (!std::exchange(is_short_of_descriptors_, true)) {
    shared_.options.warn("the agent cannot accept a connection until a descriptor is free: " +
                         why.message());
  }
  stop_listening(Clock::now() + look_period);
}

void AgentThread::stop_listening(TimePoint until) {
  events_.leave(shared_.listener.descriptor());
  is_listening_ = false;
  listens_again_ = until;
  ended_before_ = conversations_.ended();
}

// Each connection that ended freed a descriptor.
void AgentThread::listen_again(TimePoint now) {
  const bool has_descriptor = is_short_of_descriptors_ && conversations_.ended() != ended_before_;
  if (!is_listening_ && (now >= listens_again_ || has_descriptor)) {
    is_listening_ = events_.watch(shared_.listener.descriptor(), EPOLLIN).ok();
  }
}

}  // namespace tessera::rma::server
