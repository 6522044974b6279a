// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/agent_thread.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "rma/server/deaf_thread.hpp"

namespace tessera::rma::server {
namespace {

using Clock = std::chrono::steady_clock;

// How often silent ones are looked for, and whether there is a descriptor again.
constexpr std::chrono::milliseconds look_period{1000};
// How long one peer may be heard before it is asked whether others have something to say.
constexpr std::chrono::microseconds longest_turn{200};
// For how long requests that press make others likely.
constexpr std::chrono::milliseconds pressing{10};
// A thread that has slept is woken by each event, at the cost of who is about to look at it. So
// just behind a help it rather looks between naps.
constexpr std::chrono::milliseconds soon{1};
// Strangers at a time. In jobs of more ranks all may connect at once.
constexpr std::size_t most_strangers = 64;

Status no_descriptor(const char* what) {
  return Status::error(Code::limit_exceeded,
                       fmt::format("cannot make {}: {}", what, std::strerror(errno)))
      .hint("raise the limit on open files (ulimit -n)");
}

// Moments that several threads look at: nanoseconds of the steady clock.
using Moment = std::atomic<std::int64_t>;

void note_now(Moment& moment) noexcept {
  moment.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
}

bool is_within(std::chrono::nanoseconds time, const Moment& moment) noexcept {
  return Clock::now().time_since_epoch().count() - moment.load(std::memory_order_relaxed) <
         time.count();
}

}  // namespace

void AgentShared::enter(WorldRank origin) {
  conversations_.fetch_add(1);
  const std::lock_guard guard(mutex_);
  if (++conversations_of_[origin.value] == 1) {
    node->memory().guest_fate(origin) = detail::GuestFate::unknown;
  }
}

bool AgentShared::leave(WorldRank origin, detail::GuestFate fate) {
  const std::lock_guard guard(mutex_);
  const auto found = conversations_of_.find(origin.value);
  if (--found->second > 0) {
    return false;
  }
  conversations_of_.erase(found);
  node->memory().guest_fate(origin) = fate;
  return true;
}

void AgentShared::note_left() {
  conversations_.fetch_sub(1);
  conversations_.notify_all();
}

void AgentShared::wait_until_alone() const {
  for (int left = conversations_.load(); left > 0; left = conversations_.load()) {
    conversations_.wait(left);
  }
}

AgentThread::AgentThread(AgentShared& shared, int number)
    : shared_(shared), number_(number), node_(*shared.node), locks_(node_, number) {}

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
  // A full counter wakes as well.
  static_cast<void>(!write(waking_.get(), &one, sizeof(one)));
}

void AgentThread::take_on(std::unique_ptr<Channel> channel) {
  {
    const std::lock_guard guard(new_mutex_);
    new_.push_back(std::move(channel));
  }
  load_.fetch_add(1, std::memory_order_relaxed);
  wake();
}

Status AgentThread::open() {
  events_ = detail::Descriptor(epoll_create1(EPOLL_CLOEXEC));
  waking_ = detail::Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (events_.get() < 0 || waking_.get() < 0) {
    return no_descriptor("the agent's event queue");
  }
  if (number_ == 0) {
    TESSERA_RETURN_IF_ERROR(watch(shared_.listener.descriptor(), EPOLLIN, EPOLL_CTL_ADD));
  }
  TESSERA_RETURN_IF_ERROR(watch(waking_.get(), EPOLLIN, EPOLL_CTL_ADD));
  if (shared_.options.fabrics != nullptr) {
    TESSERA_RETURN_IF_ERROR(open_fabric());
  }
  // By its edges: processes of this node write to it, and nobody reads.
  return watch(node_.memory().agent_bell(), EPOLLIN | EPOLLET, EPOLL_CTL_ADD);
}

// Peers that ask for a path learn that there is none, and go on over TCP.
Status AgentThread::open_fabric() {
  auto made = shared_.options.fabrics->create();
  if (!made.ok()) {
    shared_.options.warn("this node's agent is reached over TCP: " + made.status().message());
    return {};
  }
  fabric_ = std::move(made).take();
  return watch(fabric_->descriptor(), EPOLLIN, EPOLL_CTL_ADD);
}

Status AgentThread::watch(int fd, std::uint32_t events, int operation) const {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  return epoll_ctl(events_.get(), operation, fd, &event) == 0
             ? Status()
             : no_descriptor("a watch of a socket");
}

void AgentThread::run() noexcept {
  pthread_setname_np(pthread_self(), "tessera-agent");
  prctl(PR_SET_TIMERSLACK, 1000UL);  // ns: naps are to be as short as they say
  std::chrono::microseconds last_nap{0};
  const auto take_nap = [&](std::uint32_t before) {
    last_nap = std::clamp(2 * last_nap, first_nap(), shared_.options.naps.longest);
    nap(before, last_nap);
  };
  while (!shared_.is_ending) {
    const std::uint32_t before = handed_back_.load();
    if (is_helped()) {
      take_nap(before);
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
      // Whoever was woken by what was done may be waiting for this very core.
      was_away_ = detail::Crowd::give_way();
    } else if (is_within(soon, helped_until_)) {
      if (node_.size() > 1) {
        last_nap = {};  // other ranks of the node may wait for what comes
      }
      take_nap(before);
    } else {
      last_nap = {};
      sleep();
    }
  }
  const std::lock_guard turn(turn_);
  for (auto& [fd, served] : served_) {
    served.conversation->say_bye();
  }
}

void AgentThread::end_help() noexcept {
  note_now(helped_until_);
  helpers_.fetch_sub(1);
}

// As if the last help had ended long ago: there is none to wait for.
void AgentThread::take_back() noexcept {
  if (helpers_.load() > 0) {
    return;
  }
  helped_until_.store(0, std::memory_order_relaxed);
  handed_back_.fetch_add(1);
  if (is_napping_.load()) {
    detail::futex_wake(handed_back_, 1);
  }
}

// `before`: how often work was handed back, read before the reason for the nap was looked at.
void AgentThread::nap(std::uint32_t before, std::chrono::microseconds time) noexcept {
  is_napping_.store(true);
  detail::futex_wait(handed_back_, before, time);
  is_napping_.store(false);
}

// Long where nobody is waiting: neither a peer nor, while this process's rank computes, another
// rank of the node.
std::chrono::microseconds AgentThread::first_nap() const noexcept {
  const Naps& naps = shared_.options.naps;
  return node_.size() > 1 || is_within(pressing, pressed_) ? naps.waited_for : naps.by_itself;
}

// Also for a moment behind the last help: who waits often will help again.
bool AgentThread::is_helped() const noexcept {
  return helpers_.load() > 0 || is_within(first_nap(), helped_until_);
}

void AgentThread::help() noexcept {
  const std::unique_lock turn(turn_, std::try_to_lock);
  if (!turn.owns_lock() || shared_.is_ending) {
    return;
  }
  take_turn();
  // The thread may sleep for longer than what came allows.
  if (longest_sleep().count() < sleeps_ms_.load()) {
    sleeps_ms_.store(0);
    wake();
  }
}

// Does what there is to do; whether there was anything. Asking for all is dearer than asking for
// the one that is the likeliest to say something.
bool AgentThread::take_turn() {
  constexpr int rounds = 8;
  if (was_rung()) {
    answer_locks();
  }
  const bool has_arrivals = take_arrivals();
  const bool is_busy = look_at_active() || has_arrivals;
  // Who waits for that looks first; the others are asked in the next turn.
  if (std::exchange(is_awaited_, false) && !std::exchange(are_put_off_, true)) {
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
  const bool asks_all = is_busy || looks_ == 0 || active_ < 0 || has_events_;
  const bool came = asks_all && take_events();
  if (came) {
    now = Clock::now();
    heard_ = now;
  }
  look_after_all(now);
  return is_busy || came;
}

bool AgentThread::stays_awake() const {
  const StayAwake wanted = shared_.options.stay_awake;
  const auto now = Clock::now();
  return wanted == StayAwake::max() || (now - heard_ < wanted && !crowd_.is_here(now));
}

// Somebody who computes keeps the core for a slice of some milliseconds each time; a thread that
// sleeps gets it when something comes. So when something came while the agent was away it stays
// awake no more, for a time that grows.
void AgentThread::note_turn(bool is_busy) {
  if (std::exchange(was_away_, false) && is_busy) {
    crowd_.note_loss(Clock::now());
  }
}

void AgentThread::look_after_all(Clock::time_point now) {
  if (now - looked_ >= longest_sleep()) {
    looked_ = now;
    answer_locks();
  }
  listen_again(now);
  drop_silent(now);
  drop_dead(now);
}

bool AgentThread::was_rung() const noexcept {
  return node_.memory().header().agent_bell.rings.load(std::memory_order_relaxed) != heard_rings_;
}

std::chrono::milliseconds AgentThread::longest_sleep() const {
  return std::min(look_period, locks_.next_look());
}

// Whoever rings from now on wakes the thread; who did so before is seen at once. What has come is
// left in the queue: another may take it meanwhile.
void AgentThread::sleep() {
  std::atomic<std::uint32_t>& sleepers = node_.memory().header().agent_bell.sleepers;
  sleepers.fetch_add(1);
  std::chrono::milliseconds longest{};
  {
    // Who helps after this finds how long, and wakes the thread where that is too long.
    const std::lock_guard turn(turn_);
    longest = longest_sleep();
    sleeps_ms_.store(longest.count());
  }
  epoll_event event{};
  const int count =
      epoll_wait(events_.get(), &event, 1, may_sleep() ? static_cast<int>(longest.count()) : 0);
  sleeps_ms_.store(0);
  sleepers.fetch_sub(1);
  if (count > 0) {
    has_events_ = true;
  }
}

bool AgentThread::may_sleep() {
  return !was_rung() && (fabric_ == nullptr || fabric_->arm());
}

void AgentThread::answer_locks() {
  heard_rings_ = node_.memory().header().agent_bell.rings.load();
  locks_.look([this](const FrameHeader& request, Result<std::uint64_t> word) {
    const auto found = std::find_if(served_.begin(), served_.end(), [&](const auto& each) {
      const Conversation& conversation = *each.second.conversation;
      return conversation.is_introduced() && conversation.origin() == request.origin;
    });
    if (found != served_.end()) {
      found->second.conversation->answer_lock(request, std::move(word))
          .ignore("a lost peer is found when it is read from");
      found->second.conversation->flush().ignore("likewise");
      expect(*found->second.conversation);
    }
  });
}

// The peer that was heard last is the likeliest to be heard next, and asking its socket is cheaper
// than asking for all of them.
bool AgentThread::look_at_active() {
  const auto found = served_.find(active_);
  if (found == served_.end() || !found->second.conversation->may_read()) {
    return false;
  }
  Conversation& conversation = *found->second.conversation;
  auto came = conversation.advance();
  note_pressing(conversation);
  if (!came.ok()) {
    finish(active_, came.status());
    return true;
  }
  is_awaited_ = conversation.was_awaited();
  if (*came) {
    expect(conversation);
  }
  return *came;
}

void AgentThread::note_pressing(Conversation& conversation) noexcept {
  if (conversation.take_pressed()) {
    note_now(pressed_);
  }
}

// What came over the fabric.
bool AgentThread::take_arrivals() {
  if (fabric_ == nullptr) {
    return false;
  }
  const bool came = fabric_->progress() > 0;
  for (const int fd : fabric_->take_arrivals()) {
    serve(fd);
  }
  return came;
}

bool AgentThread::take_events() {
  std::array<epoll_event, 64> events;
  has_events_ = false;
  const int count = epoll_wait(events_.get(), events.data(), static_cast<int>(events.size()), 0);
  bool came = false;
  for (int i = 0; i < count; ++i) {
    const int fd = events[static_cast<std::size_t>(i)].data.fd;
    if (fabric_ != nullptr && fd == fabric_->descriptor()) {
      continue;  // it stays readable until the thread is about to sleep
    }
    came = true;
    if (fd == shared_.listener.descriptor()) {
      accept_all();
    } else if (fd == waking_.get()) {
      begin_with_new();
    } else if (fd != node_.memory().agent_bell()) {
      heed(fd);
    }
  }
  return came;
}

void AgentThread::listen_again(Clock::time_point now) {
  if (!is_listening_ && now >= listens_again_) {
    is_listening_ = watch(shared_.listener.descriptor(), EPOLLIN, EPOLL_CTL_ADD).ok();
  }
}

void AgentThread::accept_all() {
  while (true) {
    auto channel = shared_.listener.accept();
    if (!channel.ok()) {
      // It stays in the queue. Without this pause epoll would report it again at once, for ever.
      if (!std::exchange(is_short_of_descriptors_, true)) {
        shared_.options.warn("the agent can take on no peer until a descriptor is free: " +
                             channel.status().message());
      }
      epoll_ctl(events_.get(), EPOLL_CTL_DEL, shared_.listener.descriptor(), nullptr);
      is_listening_ = false;
      listens_again_ = Clock::now() + look_period;
      return;
    }
    if (*channel == nullptr) {
      return;
    }
    is_short_of_descriptors_ = false;
    const auto idlest = std::min_element(
        shared_.threads.begin(), shared_.threads.end(),
        [](const AgentThread* a, const AgentThread* b) { return a->load() < b->load(); });
    if (*idlest != this) {
      (*idlest)->take_on(std::move(*channel));
    } else {
      load_.fetch_add(1, std::memory_order_relaxed);
      begin(std::move(*channel));
    }
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
    begin(std::move(channel));
  }
}

// Requires: it is counted in load_.
void AgentThread::begin(std::unique_ptr<Channel> channel) {
  auto handshake = HandshakeServer::create(shared_.options.secret, shared_.options.job,
                                           shared_.options.ranks, shared_.options.node);
  const int fd = channel->descriptor();
  if (!handshake.ok() || !watch(fd, EPOLLIN, EPOLL_CTL_ADD).ok()) {
    shared_.options.warn("no conversation with " + channel->peer() + " could be begun");
    load_.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
  Served served;
  served.conversation = std::make_unique<Conversation>(
      std::move(channel), std::move(handshake).take(), node_, locks_,
      ConversationOptions{.lane = number_,
                          .most_kept_bytes = shared_.options.answer_bytes,
                          .limits = shared_.options.limits,
                          .fabric = fabric_.get()});
  served.expected = EPOLLIN;
  served.since = Clock::now();
  served_.insert_or_assign(fd, std::move(served));
  drop_one_of_many();
}

// Something is to be read, or there is room to write.
void AgentThread::heed(int fd) {
  take_arrivals();  // a path's last words, which came before its end
  const auto found = served_.find(fd);
  if (found == served_.end()) {
    return;  // ended by an earlier event of the same batch
  }
  if (const Status status = found->second.conversation->heed_descriptor(); !status.ok()) {
    finish(fd, status);
    return;
  }
  serve(fd);
}

void AgentThread::serve(int fd) {
  const auto found = served_.find(fd);
  if (found == served_.end()) {
    return;  // ended a moment ago
  }
  Conversation& conversation = *found->second.conversation;
  Status status = conversation.flush();
  if (status.ok() && conversation.may_read()) {
    auto came = conversation.advance();
    note_pressing(conversation);
    status = came.status();
    active_ = fd;
  }
  if (!status.ok()) {
    finish(fd, status);
    return;
  }
  expect(conversation);
}

// What the conversation waits for now. Of a request that waits here itself, room is told at once.
void AgentThread::expect(Conversation& conversation) {
  const bool wants_room = (conversation.has_answers_waiting() && conversation.shows_room()) ||
                          conversation.has_request_waiting();
  const std::uint32_t events =
      (conversation.may_read() ? static_cast<std::uint32_t>(EPOLLIN) : 0U) |
      (wants_room ? static_cast<std::uint32_t>(EPOLLOUT) : 0U);
  Served& served = served_[conversation.descriptor()];
  count(served);
  if (events != served.expected) {
    served.expected = events;
    static_cast<void>(watch(conversation.descriptor(), events, EPOLL_CTL_MOD));
  }
}

// Once, when it has introduced itself.
void AgentThread::count(Served& served) {
  const Conversation& conversation = *served.conversation;
  if (conversation.is_introduced() && !std::exchange(served.is_counted, true)) {
    ++introduced_;
    shared_.enter(conversation.origin());
  }
}

void AgentThread::finish(int fd, const Status& why) {
  Conversation& conversation = *served_.find(fd)->second.conversation;
  // Ranks that stop close their connections; strangers, garbage and what is cut off are worth a
  // line.
  if (why.code() != Code::peer_lost) {
    conversation.say_why(why);
    drop(fd, "ended the conversation with " + conversation.peer() + ": " + why.message());
  } else if (const std::string unfinished = conversation.unfinished(); !unfinished.empty()) {
    drop(fd, conversation.peer() + " was lost " + unfinished + ": " + why.message());
  } else {
    drop(fd, "");
  }
}

void AgentThread::drop(int fd, const std::string& why) {
  if (!why.empty()) {
    shared_.options.warn(why);
  }
  const auto found = served_.find(fd);
  // Requests may have come with the end of the handshake, and its own end with them.
  count(found->second);
  // A rank has one conversation with a node. Another one in its name, from wherever it came,
  // doesn't say that the rank is gone.
  const Conversation& ended = *found->second.conversation;
  const bool was_counted = found->second.is_counted;
  const WorldRank origin = ended.is_introduced() ? ended.origin() : WorldRank{-1};
  const auto fate = ended.has_said_bye() ? detail::GuestFate::left : detail::GuestFate::lost;
  served_.erase(found);
  load_.fetch_sub(1, std::memory_order_relaxed);
  active_ = active_ == fd ? -1 : active_;
  listens_again_ = Clock::time_point();  // there is a descriptor now
  if (was_counted) {
    --introduced_;
    if (shared_.leave(origin, fate)) {
      locks_.forget(origin);
    }
    shared_.note_left();
  }
}

void AgentThread::drop_silent(Clock::time_point now) {
  if (now - dropped_ < std::min<Clock::duration>(look_period, shared_.options.patience)) {
    return;
  }
  dropped_ = now;
  std::vector<int> silent;
  for (const auto& [fd, served] : served_) {
    if (!served.conversation->is_introduced() && now - served.since > shared_.options.patience) {
      silent.push_back(fd);
    }
  }
  for (const int fd : silent) {
    drop(fd, fmt::format("{} did not introduce itself within {} ms and was disconnected",
                         served_[fd].conversation->peer(), shared_.options.patience.count()));
  }
}

void AgentThread::drop_dead(Clock::time_point now) {
  constexpr std::chrono::seconds period{5};
  if (now - checked_ < period) {
    return;
  }
  checked_ = now;
  if (fabric_ != nullptr) {
    fabric_->look_after();
  }
  std::vector<std::pair<int, Status>> dead;
  for (const auto& [fd, served] : served_) {
    served.conversation->release_memory();
    if (Status status = served.conversation->check_peer_lives(); !status.ok()) {
      dead.emplace_back(fd, std::move(status));
    }
  }
  for (const auto& [fd, why] : dead) {
    finish(fd, why);
  }
}

// Who only connects, again and again, would use up the descriptors of this process.
void AgentThread::drop_one_of_many() {
  if (served_.size() - introduced_ <=
      std::max(most_strangers, static_cast<std::size_t>(shared_.options.ranks))) {
    return;
  }
  auto oldest = served_.end();
  for (auto each = served_.begin(); each != served_.end(); ++each) {
    if (!each->second.conversation->is_introduced() &&
        (oldest == served_.end() || each->second.since < oldest->second.since)) {
      oldest = each;
    }
  }
  if (oldest != served_.end()) {
    drop(oldest->first, oldest->second.conversation->peer() +
                            " was disconnected: too many connect without introducing themselves");
  }
}

}  // namespace tessera::rma::server
