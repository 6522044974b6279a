// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/agent.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace tessera::rma::server {
namespace {

using Clock = std::chrono::steady_clock;

// How often silent ones are looked for, and whether there is a descriptor again.
constexpr std::chrono::milliseconds look_period{1000};
// How long one peer may be heard before it is asked whether others have something to say.
constexpr std::chrono::microseconds longest_turn{200};
// Strangers at a time. In jobs of more ranks all may connect at once.
constexpr std::size_t most_strangers = 64;

Status no_descriptor(const char* what) {
  return Status::error(Code::limit_exceeded,
                       fmt::format("cannot make {}: {}", what, std::strerror(errno)))
      .hint("raise the limit on open files (ulimit -n)");
}

}  // namespace

Agent::Agent(std::shared_ptr<detail::Node> node, TcpListener listener, AgentOptions options)
    : node_(std::move(node)),
      listener_(std::move(listener)),
      options_(std::move(options)),
      locks_(*node_) {}

Result<std::unique_ptr<Agent>> Agent::create(std::shared_ptr<detail::Node> node,
                                             TcpListener listener, AgentOptions options) {
  std::unique_ptr<Agent> agent(new Agent(std::move(node), std::move(listener), std::move(options)));
  TESSERA_RETURN_IF_ERROR(agent->node_->make_guest_book(agent->options_.ranks));
  TESSERA_RETURN_IF_ERROR(agent->open());
  // Signals are for the program's threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  agent->thread_ = std::thread([self = agent.get()] { self->run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return agent;
}

Agent::~Agent() {
  is_ending_ = true;
  const std::uint64_t one = 1;
  // A full counter wakes as well.
  static_cast<void>(!write(ending_.get(), &one, sizeof(one)));
  if (thread_.joinable()) {
    thread_.join();
  }
}

void Agent::wait_until_alone() {
  for (int left = conversations_.load(); left > 0; left = conversations_.load()) {
    conversations_.wait(left);
  }
}

// Requires: called by the agent's thread.
void Agent::count(int more) {
  conversations_.fetch_add(more);
  conversations_.notify_all();
}

Status Agent::open() {
  events_ = detail::Descriptor(epoll_create1(EPOLL_CLOEXEC));
  ending_ = detail::Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (events_.get() < 0 || ending_.get() < 0) {
    return no_descriptor("the agent's event queue");
  }
  TESSERA_RETURN_IF_ERROR(watch(listener_.descriptor(), EPOLLIN, EPOLL_CTL_ADD));
  TESSERA_RETURN_IF_ERROR(watch(ending_.get(), EPOLLIN, EPOLL_CTL_ADD));
  // By its edges: processes of this node write to it, and nobody reads.
  return watch(node_->memory().agent_bell(), EPOLLIN | EPOLLET, EPOLL_CTL_ADD);
}

Status Agent::watch(int fd, std::uint32_t events, int operation) const {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  return epoll_ctl(events_.get(), operation, fd, &event) == 0
             ? Status()
             : no_descriptor("a watch of a socket");
}

void Agent::run() noexcept {
  pthread_setname_np(pthread_self(), "tessera-agent");
  auto now = Clock::now();
  auto heard = now;
  auto asked = now;
  while (!is_ending_) {
    if (was_rung()) {
      answer_locks();
    }
    const bool is_busy = look_at_active();
    now = Clock::now();
    heard = is_busy ? now : heard;
    if (is_busy && now - asked < longest_turn) {
      continue;
    }
    asked = now;
    const bool is_awake =
        is_busy || options_.stay_awake == StayAwake::max() || now - heard < options_.stay_awake;
    const bool came = is_busy ? take_events(0) : (is_awake ? look_awake() : sleep());
    now = Clock::now();
    heard = came ? now : heard;
    look_after_all(now);
  }
  for (auto& [fd, served] : served_) {
    served.conversation->say_bye();
  }
}

void Agent::look_after_all(Clock::time_point now) {
  if (now - looked_ >= longest_sleep()) {
    looked_ = now;
    answer_locks();
  }
  listen_again(now);
  drop_silent(now);
  drop_dead(now);
}

bool Agent::was_rung() const noexcept {
  return node_->memory().header().agent_bell.rings.load(std::memory_order_relaxed) != heard_rings_;
}

// Asking for all is dearer than asking for the one that is the likeliest to say something. Whoever
// was woken by what the agent did may be waiting for this very core.
bool Agent::look_awake() {
  constexpr int rounds = 8;
  looks_ = (looks_ + 1) % rounds;
  const bool came = (looks_ == 0 || active_ < 0) && take_events(0);
  if (!came) {
    sched_yield();
  }
  return came;
}

std::chrono::milliseconds Agent::longest_sleep() const {
  return std::min(look_period, locks_.next_look());
}

// Whoever rings from now on wakes the thread; who did so before is seen at once.
bool Agent::sleep() {
  std::atomic<std::uint32_t>& sleepers = node_->memory().header().agent_bell.sleepers;
  sleepers.fetch_add(1);
  const bool came = take_events(was_rung() ? 0 : static_cast<int>(longest_sleep().count()));
  sleepers.fetch_sub(1);
  return came;
}

void Agent::answer_locks() {
  heard_rings_ = node_->memory().header().agent_bell.rings.load();
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
bool Agent::look_at_active() {
  const auto found = served_.find(active_);
  if (found == served_.end() || !found->second.conversation->may_read()) {
    return false;
  }
  Conversation& conversation = *found->second.conversation;
  auto came = conversation.advance();
  if (!came.ok()) {
    finish(active_, came.status());
    return true;
  }
  if (*came) {
    expect(conversation);
  }
  return *came;
}

bool Agent::take_events(int timeout_ms) {
  std::array<epoll_event, 64> events;
  const int count =
      epoll_wait(events_.get(), events.data(), static_cast<int>(events.size()), timeout_ms);
  for (int i = 0; i < count; ++i) {
    const int fd = events[static_cast<std::size_t>(i)].data.fd;
    if (fd == listener_.descriptor()) {
      accept_all();
    } else if (fd != ending_.get() && fd != node_->memory().agent_bell()) {
      serve(fd);
    }
  }
  return count > 0;
}

void Agent::listen_again(Clock::time_point now) {
  if (!is_listening_ && now >= listens_again_) {
    is_listening_ = watch(listener_.descriptor(), EPOLLIN, EPOLL_CTL_ADD).ok();
  }
}

void Agent::accept_all() {
  while (true) {
    auto channel = listener_.accept();
    if (!channel.ok()) {
      // It stays in the queue. Without this pause epoll would report it again at once, for ever.
      if (!std::exchange(is_short_of_descriptors_, true)) {
        options_.warn("the agent can take on no peer until a descriptor is free: " +
                      channel.status().message());
      }
      epoll_ctl(events_.get(), EPOLL_CTL_DEL, listener_.descriptor(), nullptr);
      is_listening_ = false;
      listens_again_ = Clock::now() + look_period;
      return;
    }
    if (*channel == nullptr) {
      return;
    }
    is_short_of_descriptors_ = false;
    auto handshake =
        HandshakeServer::create(options_.secret, options_.job, options_.ranks, options_.node);
    const int fd = (*channel)->descriptor();
    if (!handshake.ok() || !watch(fd, EPOLLIN, EPOLL_CTL_ADD).ok()) {
      options_.warn("no conversation with " + (*channel)->peer() + " could be begun");
      continue;
    }
    Served served;
    served.conversation = std::make_unique<Conversation>(
        std::move(*channel), std::move(handshake).take(), *node_, locks_);
    served.expected = EPOLLIN;
    served.since = Clock::now();
    served_.insert_or_assign(fd, std::move(served));
    drop_one_of_many();
  }
}

void Agent::serve(int fd) {
  const auto found = served_.find(fd);
  if (found == served_.end()) {
    return;  // ended by an earlier event of the same batch
  }
  Conversation& conversation = *found->second.conversation;
  Status status = conversation.flush();
  if (status.ok() && conversation.may_read()) {
    auto came = conversation.advance();
    status = came.status();
    active_ = fd;
  }
  if (!status.ok()) {
    finish(fd, status);
    return;
  }
  expect(conversation);
}

// What the conversation waits for now.
void Agent::expect(Conversation& conversation) {
  const std::uint32_t events =
      (conversation.may_read() ? static_cast<std::uint32_t>(EPOLLIN) : 0U) |
      (conversation.has_answers_waiting() ? static_cast<std::uint32_t>(EPOLLOUT) : 0U);
  Served& served = served_[conversation.descriptor()];
  if (conversation.is_introduced() && !std::exchange(served.is_counted, true)) {
    count(1);
  }
  if (events != served.expected) {
    served.expected = events;
    static_cast<void>(watch(conversation.descriptor(), events, EPOLL_CTL_MOD));
  }
}

void Agent::finish(int fd, const Status& why) {
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

// A rank has one conversation with a node. Another one in its name, from wherever it came, doesn't
// say that the rank is gone.
void Agent::forget_locks_of(const Conversation& ended) {
  const bool has_another = std::any_of(served_.begin(), served_.end(), [&](const auto& each) {
    const Conversation& other = *each.second.conversation;
    return &other != &ended && other.is_introduced() && other.origin() == ended.origin();
  });
  if (ended.is_introduced() && !has_another) {
    locks_.finish(ended.origin(),
                  ended.has_said_bye() ? detail::GuestFate::left : detail::GuestFate::lost);
  }
}

void Agent::drop(int fd, const std::string& why) {
  if (!why.empty()) {
    options_.warn(why);
  }
  const auto found = served_.find(fd);
  const bool was_counted = found->second.is_counted;
  forget_locks_of(*found->second.conversation);
  served_.erase(found);
  active_ = active_ == fd ? -1 : active_;
  listens_again_ = Clock::time_point();  // there is a descriptor now
  if (was_counted) {
    count(-1);
  }
}

void Agent::drop_silent(Clock::time_point now) {
  if (now - dropped_ < std::min<Clock::duration>(look_period, options_.patience)) {
    return;
  }
  dropped_ = now;
  std::vector<int> silent;
  for (const auto& [fd, served] : served_) {
    if (!served.conversation->is_introduced() && now - served.since > options_.patience) {
      silent.push_back(fd);
    }
  }
  for (const int fd : silent) {
    drop(fd, fmt::format("{} did not introduce itself within {} ms and was disconnected",
                         served_[fd].conversation->peer(), options_.patience.count()));
  }
}

void Agent::drop_dead(Clock::time_point now) {
  constexpr std::chrono::seconds period{5};
  if (now - checked_ < period) {
    return;
  }
  checked_ = now;
  std::vector<std::pair<int, Status>> dead;
  for (const auto& [fd, served] : served_) {
    if (Status status = served.conversation->check_peer_lives(); !status.ok()) {
      dead.emplace_back(fd, std::move(status));
    }
  }
  for (const auto& [fd, why] : dead) {
    finish(fd, why);
  }
}

// Who only connects, again and again, would use up the descriptors of this process.
void Agent::drop_one_of_many() {
  const auto known = static_cast<std::size_t>(conversations_.load());
  if (served_.size() - known <=
      std::max(most_strangers, static_cast<std::size_t>(options_.ranks))) {
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
