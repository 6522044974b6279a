// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/agent.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

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
constexpr int look_period_ms = 1000;

Status no_descriptor(const char* what) {
  return Status::error(Code::limit_exceeded,
                       fmt::format("cannot make {}: {}", what, std::strerror(errno)))
      .hint("raise the limit on open files (ulimit -n)");
}

}  // namespace

Agent::Agent(std::shared_ptr<detail::Node> node, TcpListener listener, AgentOptions options)
    : node_(std::move(node)), listener_(std::move(listener)), options_(std::move(options)) {}

Result<std::unique_ptr<Agent>> Agent::create(std::shared_ptr<detail::Node> node,
                                             TcpListener listener, AgentOptions options) {
  std::unique_ptr<Agent> agent(new Agent(std::move(node), std::move(listener), std::move(options)));
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
  return watch(ending_.get(), EPOLLIN, EPOLL_CTL_ADD);
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
  auto heard = Clock::now();
  while (!is_ending_) {
    if (look_at_active()) {
      heard = Clock::now();
      continue;
    }
    const bool is_awake =
        options_.stay_awake == StayAwake::max() || Clock::now() - heard < options_.stay_awake;
    if (take_events(is_awake ? 0 : look_period_ms)) {
      heard = Clock::now();
    }
    if (!is_awake) {
      drop_silent();
    }
  }
  for (auto& [fd, served] : served_) {
    served.conversation->say_bye();
  }
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
    } else if (fd != ending_.get()) {
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
    served.conversation =
        std::make_unique<Conversation>(std::move(*channel), std::move(handshake).take(), *node_);
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
