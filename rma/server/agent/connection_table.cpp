// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/agent/connection_table.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace tessera::rma::server {
namespace {

// How often silent peers are looked up and dead machines are checked.
constexpr std::chrono::milliseconds silence_check_interval{1000};
// The number of unauthenticated peers at a time. In jobs of more ranks all ranks may connect at
// once.
constexpr std::size_t max_unauthenticated_peers = 64;
// The share of this process's descriptors for unauthenticated peers; the program needs the others.
constexpr std::size_t unauthenticated_descriptor_share = 8;

std::size_t limit_on_descriptors() noexcept {
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? static_cast<std::size_t>(limit.rlim_cur)
                                               : static_cast<std::size_t>(RLIM_INFINITY);
}

}  // namespace

ConnectionTable::ConnectionTable(AgentState& shared, const detail::Poller& events, int number)
    : shared_(shared), events_(events), number_(number), locks_(*shared.node, number) {
  if (const auto& forwards = shared.options.forwards) {
    forwarder_.emplace(
        forwards,
        Forwarder::Identity{.node = shared.options.node,
                            .agent_host = shared.node->ranks().front(),
                            .job = shared.options.job,
                            .secret = shared.options.secret,
                            .authentication_timeout = shared.options.authentication_timeout},
        events, static_cast<ForwardRequesters&>(*this));
  }
}

void ConnectionTable::begin(std::unique_ptr<Channel> channel) {
  auto handshake = HandshakeServer::create(shared_.options.secret, shared_.options.job,
                                           shared_.options.ranks, shared_.options.node);
  const int fd = channel->descriptor();
  if (!handshake.ok() || !events_.watch(fd, EPOLLIN).ok()) {
    shared_.unauthenticated_log.record(std::chrono::steady_clock::now(), [&] {
      return "the connection of " + channel->peer() + " could not be served";
    });
    load_.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
  Served served;
  served.connection = std::make_unique<ServerConnection>(
      std::move(channel), std::move(handshake).take(), *shared_.node, locks_,
      ServerConnectionOptions{.shard = number_,
                              .max_unsent_reply_bytes = shared_.options.answer_bytes,
                              .limits = shared_.options.limits,
                              .rdma = rdma_,
                              .buffers = shared_.options.buffers_per_client ? nullptr : &buffers_,
                              .forwarder = forwarder_ ? &*forwarder_ : nullptr,
                              .replies = forwarder_ ? &replies_ : nullptr,
                              .routes = forwarder_ ? &shared_.routes : nullptr});
  served.events = EPOLLIN;
  served.since = std::chrono::steady_clock::now();
  served_.insert_or_assign(fd, std::move(served));
  drop_oldest_unauthenticated(fd);
}

void ConnectionTable::answer_locks() {
  locks_.answer_waiting([this](const FrameHeader& request, Result<std::uint64_t> word) {
    const auto found = std::find_if(served_.begin(), served_.end(), [&](const auto& each) {
      const ServerConnection& connection = *each.second.connection;
      return connection.peer().is_authenticated && !connection.peer().is_trunk() &&
             connection.peer().origin == request.origin;
    });
    if (found != served_.end()) {
      found->second.connection->answer(request, word).ignore("the loss is found at the next read");
      found->second.connection->flush().ignore("the loss is found at the next read");
      update(*found->second.connection);
    }
  });
}

bool ConnectionTable::serve_active() {
  const auto found = served_.find(active_);
  if (found == served_.end() || !found->second.connection->may_read()) {
    return false;
  }
  ServerConnection& connection = *found->second.connection;
  const auto came = connection.advance();
  if (!came.ok()) {
    finish(active_, came.status());
    settle();
    return true;
  }
  is_latency_critical_ = connection.was_latency_critical();
  if (*came) {
    update(connection);
    settle();
  }
  return *came;
}

// Completes what serving one connection left for others: flushes the replies that were written to
// them, and resumes those that could not pass a request on before.
void ConnectionTable::settle() {
  if (!forwarder_) {
    return;
  }
  while (replies_.has_unflushed() || !resumed_.empty()) {
    for (ServerConnection* const each : replies_.take_unflushed()) {
      if (const Status status = each->flush(); !status.ok()) {
        finish(each->descriptor(), status);
      } else {
        update(*each);
      }
    }
    for (const int fd : std::exchange(resumed_, {})) {
      if (const auto found = served_.find(fd); found != served_.end()) {
        found->second.connection->receiver().resume();
        serve_one(fd);
      }
    }
  }
}

void ConnectionTable::send_reply(int requester_fd, const FrameHeader& answer,
                                 std::vector<std::byte> payload) {
  const auto found = served_.find(requester_fd);
  if (found == served_.end()) {
    return;  // it has ended
  }
  ServerConnection& connection = *found->second.connection;
  if (connection.peer().is_authenticated && connection.peer().origin == answer.origin) {
    connection.send(answer, std::move(payload)).ignore("the loss is found at the next read");
    replies_.record_unflushed(connection);
  }
}

bool ConnectionTable::handle_event(int fd) {
  if (forwarder_ && forwarder_->has(fd)) {
    forwarder_->handle_event(fd);
    settle();
    return true;
  }
  const auto found = served_.find(fd);
  if (found == served_.end()) {
    return false;  // ended by an earlier event of the same batch
  }
  const bool is_peer = found->second.is_counted;
  if (const Status status = found->second.connection->on_readable(); !status.ok()) {
    finish(fd, status);
  } else {
    serve(fd);
  }
  return is_peer;
}

void ConnectionTable::serve(int fd) {
  if (forwarder_ && forwarder_->has(fd)) {
    forwarder_->handle_event(fd);
  } else {
    serve_one(fd);
  }
  settle();
}

void ConnectionTable::serve_one(int fd) {
  const auto found = served_.find(fd);
  if (found == served_.end()) {
    return;  // ended a moment ago
  }
  ServerConnection& connection = *found->second.connection;
  Status status = connection.flush();
  if (status.ok() && connection.may_read()) {
    status = connection.advance().status();
    active_ = fd;
  }
  if (!status.ok()) {
    finish(fd, status);
    return;
  }
  update(connection);
}

// After a connection was served: updates what is watched for it, and what is known of its peer and
// of its requests.
void ConnectionTable::update(ServerConnection& connection) {
  const std::uint32_t events = connection.wanted_events();
  Served& served = served_[connection.descriptor()];
  was_urgent_ = connection.receiver().take_urgent() || was_urgent_;
  count(served);
  if (events != served.events) {
    served.events = events;
    static_cast<void>(events_.change(connection.descriptor(), events));
  }
}

// Counts a connection once, after it has authenticated itself.
void ConnectionTable::count(Served& served) {
  const ServerConnection& connection = *served.connection;
  if (connection.peer().is_authenticated && !std::exchange(served.is_counted, true)) {
    ++authenticated_;
    shared_.enter(connection.peer().origin);
  }
  if (connection.peer().is_trunk() && !std::exchange(served.is_excluded, true)) {
    shared_.exclude(connection.peer().origin);
  }
}

void ConnectionTable::finish(int fd, const Status& why) {
  ServerConnection& connection = *served_.find(fd)->second.connection;
  const bool is_stranger = !connection.peer().is_authenticated;
  // Ranks that stop close their connections. Unauthenticated peers, malformed data and truncated
  // requests are worth a line.
  if (why.code() != Code::peer_lost) {
    connection.send_reason(why);
    drop(fd, is_stranger, [&] {
      return "closed the connection with " + connection.peer_name() + ": " + why.message();
    });
  } else if (const std::string unfinished = connection.unfinished(); !unfinished.empty()) {
    drop(fd, is_stranger,
         [&] { return connection.peer_name() + " was lost " + unfinished + ": " + why.message(); });
  } else {
    remove(fd);
  }
}

// `describe()` returns the line for the log.
template <class Describe>
void ConnectionTable::drop(int fd, bool is_stranger, Describe&& describe) {
  if (is_stranger) {
    shared_.unauthenticated_log.record(std::chrono::steady_clock::now(), describe);
  } else {
    shared_.options.warn(describe());
  }
  remove(fd);
}

void ConnectionTable::remove(int fd) {
  const auto found = served_.find(fd);
  // Requests may have come with the end of the handshake, followed by the end of the connection.
  count(found->second);
  // A rank has one connection to a node. The end of another one in its name, from anywhere, does
  // not mean that the rank is gone.
  const ServerConnection& ended = *found->second.connection;
  const bool was_counted = found->second.is_counted;
  const WorldRank origin = ended.peer().is_authenticated ? ended.peer().origin : WorldRank{-1};
  const auto state =
      ended.peer().has_closed ? detail::RemoteRankState::left : detail::RemoteRankState::lost;
  const bool is_excluded = found->second.is_excluded;
  replies_.remove(origin, ended);
  served_.erase(found);
  load_.fetch_sub(1, std::memory_order_relaxed);
  active_ = active_ == fd ? -1 : active_;
  ++ended_;
  if (was_counted) {
    --authenticated_;
    if (is_excluded) {
      return;
    }
    if (shared_.leave(origin, state)) {
      locks_.forget(origin);
    }
    shared_.record_left();
  } else {
    ++dropped_unauthenticated_;
  }
}

void ConnectionTable::send_bye() {
  for (auto& [fd, served] : served_) {
    served.connection->send_bye();
  }
  if (forwarder_) {
    forwarder_->send_bye();
  }
}

void ConnectionTable::drop_silent(TimePoint now) {
  if (now - dropped_ < std::min<TimePoint::duration>(silence_check_interval,
                                                     shared_.options.authentication_timeout)) {
    return;
  }
  dropped_ = now;
  shared_.unauthenticated_log.report_count(now);
  std::vector<int> silent;
  for (const auto& [fd, served] : served_) {
    if (!served.connection->peer().is_authenticated &&
        now - served.since > shared_.options.authentication_timeout) {
      silent.push_back(fd);
    }
  }
  for (const int fd : silent) {
    drop(fd, true, [&] {
      return fmt::format("{} did not complete the handshake within {} ms and was disconnected",
                         served_[fd].connection->peer_name(),
                         shared_.options.authentication_timeout.count());
    });
  }
}

void ConnectionTable::maintain(TimePoint now) {
  constexpr std::uint32_t checks_a_release = 5;
  drop_silent(now);
  if (now - checked_ < silence_check_interval) {
    return;
  }
  checked_ = now;
  if (forwarder_) {
    forwarder_->maintain(now);
    settle();
  }
  const bool gives_back = ++checks_ % checks_a_release == 0;
  if (gives_back) {
    buffers_.release_unused();
    if (rdma_ != nullptr) {
      rdma_->maintain();
    }
  }
  std::vector<std::pair<int, Status>> dead;
  for (const auto& [fd, served] : served_) {
    if (gives_back) {
      served.connection->release_unused();
    }
    if (Status status = served.connection->check_peer_lives(); !status.ok()) {
      dead.emplace_back(fd, std::move(status));
    }
  }
  for (const auto& [fd, why] : dead) {
    finish(fd, why);
  }
}

// If the newest descriptor is among the last that this process may have, only one may be
// unauthenticated.
std::size_t ConnectionTable::max_unauthenticated(int newest) const noexcept {
  const std::size_t limit = limit_on_descriptors();
  const std::size_t part = limit / unauthenticated_descriptor_share;
  if (static_cast<std::size_t>(newest) >= limit - part) {
    return 1;
  }
  const auto wanted =
      std::max(max_unauthenticated_peers, static_cast<std::size_t>(shared_.options.ranks));
  const auto own_part = part / static_cast<std::size_t>(std::max(1, shared_.options.threads));
  return std::clamp<std::size_t>(own_part, 1, wanted);
}

// A process that only connects, again and again, would exhaust this process's descriptors.
void ConnectionTable::drop_oldest_unauthenticated(int newest) {
  const std::size_t strangers = served_.size() - authenticated_;
  const std::size_t most = max_unauthenticated(newest);
  if (strangers <= most) {
    return;
  }
  auto oldest = served_.end();
  for (auto each = served_.begin(); each != served_.end(); ++each) {
    if (!each->second.connection->peer().is_authenticated &&
        (oldest == served_.end() || each->second.since < oldest->second.since)) {
      oldest = each;
    }
  }
  if (oldest != served_.end()) {
    drop(oldest->first, true, [&] {
      return fmt::format(
          "{} was disconnected: {} connections have not completed the handshake; the limit is {}",
          oldest->second.connection->peer_name(), strangers, most);
    });
  }
}

}  // namespace tessera::rma::server
