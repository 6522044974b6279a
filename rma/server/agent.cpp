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

// Who connects and doesn't introduce himself is disconnected.
constexpr std::chrono::seconds patience{10};
// How often silent ones are looked for while nothing else happens, and a full table is tried again.
constexpr std::chrono::milliseconds look_period{1000};

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

// Requires: called by the agent's thread, whenever `served_` has changed.
void Agent::count_conversations() {
  conversations_ = static_cast<int>(served_.size());
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
  auto looked = now;
  while (!is_ending_) {
    if (was_rung()) {
      answer_locks();
    }
    const bool is_awake =
        options_.stay_awake == StayAwake::max() || now - heard < options_.stay_awake;
    const bool came = look_at_active() || (is_awake ? look_awake() : sleep());
    now = Clock::now();
    heard = came ? now : heard;
    if (now - looked >= longest_sleep()) {
      looked = now;
      answer_locks();
      drop_silent();
    }
  }
  for (auto& [fd, served] : served_) {
    served.conversation->say_bye();
  }
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
  if (!is_listening_ && watch(listener_.descriptor(), EPOLLIN, EPOLL_CTL_ADD).ok()) {
    is_listening_ = true;
  }
  return count > 0;
}

void Agent::accept_all() {
  while (true) {
    auto channel = listener_.accept();
    if (!channel.ok()) {
      // It stays in the queue. Without this pause epoll would report it again at once, for ever.
      options_.warn(channel.status().describe());
      epoll_ctl(events_.get(), EPOLL_CTL_DEL, listener_.descriptor(), nullptr);
      is_listening_ = false;
      return;
    }
    if (*channel == nullptr) {
      return;
    }
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
    count_conversations();
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
  if (events != served.expected) {
    served.expected = events;
    static_cast<void>(watch(conversation.descriptor(), events, EPOLL_CTL_MOD));
  }
}

void Agent::finish(int fd, const Status& why) {
  const auto found = served_.find(fd);
  const Conversation& conversation = *found->second.conversation;
  // Ranks that stop close their connections; strangers and garbage are worth a line.
  if (why.code() != Code::peer_lost) {
    options_.warn("ended the conversation with " + conversation.peer() + ": " + why.message());
  }
  if (conversation.is_introduced()) {
    locks_.finish(conversation.origin(),
                  conversation.has_said_bye() ? detail::GuestFate::left : detail::GuestFate::lost);
  }
  served_.erase(found);
  active_ = active_ == fd ? -1 : active_;
  count_conversations();
}

void Agent::drop_silent() {
  const auto now = Clock::now();
  std::erase_if(served_, [&](const auto& each) {
    return !each.second.conversation->is_introduced() && now - each.second.since > patience;
  });
  count_conversations();
}

}  // namespace tessera::rma::server
