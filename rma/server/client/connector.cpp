// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/client/connector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/base/wait_ready.hpp"
#include "rma/server/client/client.hpp"
#include "rma/server/wire/handshake.hpp"
#include "rma/transport/tcp/tcp.hpp"

namespace tessera::rma::server {
namespace {

using Clock = std::chrono::steady_clock;

// Without a route to the address this machine has no network, which seldom changes soon. So the
// attempts then last only this fraction of the time that an interruption may take.
constexpr int parts_without_network = 10;

}  // namespace

Result<std::unique_ptr<Channel>> Connector::open(NodeId node, Contact& contact, Purpose purpose,
                                                 std::chrono::milliseconds timeout) {
  Attempts& attempts = purpose == Purpose::link ? contact.of_links : contact.of_transients;
  if (contact.of_links.are_paused()) {
    return contact.of_links.failure;
  }
  if (attempts.are_paused()) {
    return attempts.failure;
  }
  const auto begun = Clock::now();
  auto channel = try_to_open(node, contact, timeout);
  record_outcome(contact, attempts, channel.status(), begun);
  return channel;
}

Result<std::unique_ptr<Channel>> Connector::try_to_open(NodeId node, Contact& contact,
                                                        std::chrono::milliseconds timeout) const {
  const Status left = Status::error(Code::closed, "it has left the job");
  if (options_.has_left(node)) {
    return loss_of(node, left);
  }
  auto channel = introduce(node, contact, timeout);
  if (!channel.ok()) {
    // It may have left meanwhile: a leaving node notifies every other node first.
    return loss_of(node, options_.has_left(node) ? left : channel.status());
  }
  return channel;
}

// Other errors occur at once and may disappear as soon as their cause does.
void Connector::record_outcome(Contact& contact, Attempts& attempts, const Status& outcome,
                               Clock::time_point begun) const {
  const Code code = outcome.code();
  // The agent listened before the job started, and only once in its life.
  const bool is_final = code == Code::peer_lost || code == Code::closed;
  const bool was_long = code == Code::unreachable || code == Code::timed_out;
  attempts.failure = is_final || was_long ? outcome : Status();
  if (was_long) {
    const std::chrono::milliseconds longer(2 * contact.pause);
    contact.pause = std::chrono::duration_cast<Pause>(
        std::clamp(longer, options_.first_pause, options_.max_pause));
    attempts.again = Clock::now() + contact.pause;
  } else {
    contact.pause = Pause(0);
    attempts.again = is_final ? Clock::time_point::max() : Clock::time_point();
  }
  if (is_final) {
    contact.of_links = contact.of_transients = attempts;
  }
  if (!was_long) {
    contact.silent_since = 0;
  } else if (contact.silent_since == 0) {
    contact.silent_since = begun.time_since_epoch().count();
  }
}

Status Connector::loss_of(NodeId node, const Status& reason) const noexcept {
  return detail::worded(reason.code(), [&] { return describe_loss(node, reason); });
}

Status Connector::describe_loss(NodeId node, const Status& reason) const {
  const auto at = static_cast<std::size_t>(node.value);
  if (reason.code() != Code::peer_lost || at >= options_.agent_hosts.size()) {
    return Status::error(reason.code(), fmt::format("node {}: {}", node.value, reason.message()));
  }
  const WorldRank agent_host = options_.agent_hosts[at];
  return Status::error_at(agent_host, Code::peer_lost,
                          fmt::format("node {} is lost with rank {}, whose process served it: {}",
                                      node.value, agent_host.value, reason.message()));
}

// An open connection survives a network interruption shorter than longest_silence, so a new
// connection must survive it, too. During an interruption some systems report a missing
// route, others report nothing.
Result<std::unique_ptr<Channel>> Connector::reach(NodeId node, Contact& contact,
                                                  std::chrono::milliseconds timeout) const {
  constexpr std::chrono::milliseconds pause{100};
  const TcpAddress address = options_.agents[static_cast<std::size_t>(node.value)];
  const auto begun = Clock::now();
  const auto max_wait = std::min(timeout, longest_silence);
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(begun + max_wait - Clock::now());
    int error = 0;
    auto channel = connect_tcp(address, std::max(left, pause), options_.congestion, &error);
    contact.error = error;
    const bool is_cut_off = !channel.ok() && channel.status().code() == Code::unreachable;
    const auto most = error == ENETUNREACH ? max_wait / parts_without_network : max_wait;
    if (!is_cut_off || Clock::now() + pause > begun + most) {
      return channel;
    }
    std::this_thread::sleep_for(pause);
  }
}

// An agent that closes during the handshake has too many unauthenticated peers at present, or is
// ending. If it is ending, the next attempt finds that nothing listens.
Result<std::unique_ptr<Channel>> Connector::introduce(NodeId node, Contact& contact,
                                                      std::chrono::milliseconds timeout) const {
  constexpr std::chrono::milliseconds pause{10};
  const auto deadline = Clock::now() + timeout;
  while (true) {
    TESSERA_ASSIGN_OR_RETURN(auto channel, reach(node, contact, timeout));
    Status met = shake_hands(*channel, node, deadline);
    if (met.ok()) {
      return channel;
    }
    if (met.code() != Code::peer_lost) {
      contact.error = met.code() == Code::timed_out ? ETIMEDOUT : EPROTO;
      return met;
    }
    contact.error = channel->error();
    if (Clock::now() > deadline) {
      return Status::error(Code::unreachable, met.message());
    }
    std::this_thread::sleep_for(pause);
  }
}

// On a channel that no other thread has yet.
Status Connector::shake_hands(Channel& channel, NodeId node, Clock::time_point deadline) const {
  TESSERA_ASSIGN_OR_RETURN(
      auto handshake,
      HandshakeClient::create(options_.secret,
                              {.job = options_.job, .origin = options_.rank, .node = node}));
  bool is_finished = false;
  while (!is_finished || !handshake.outgoing().empty()) {
    const auto out = handshake.outgoing();
    if (!out.empty()) {
      const iovec piece{const_cast<std::byte*>(out.data()), out.size()};
      TESSERA_ASSIGN_OR_RETURN(const std::size_t sent, channel.send(std::span(&piece, 1)));
      handshake.sent(sent);
      continue;
    }
    if (!detail::wait_ready(channel.descriptor(), POLLIN, deadline)) {
      return Status::error(Code::timed_out,
                           fmt::format("the agent at {} did not complete the handshake in time",
                                       channel.peer()))
          .hint("its process is stopped or has no free descriptor (ulimit -n); check its output");
    }
    std::array<std::byte, challenge_bytes> bytes;
    const iovec room{bytes.data(), bytes.size()};
    TESSERA_ASSIGN_OR_RETURN(const std::size_t came, channel.receive(std::span(&room, 1)));
    // The server only answers, so these bytes contain no frames.
    TESSERA_ASSIGN_OR_RETURN(const HandshakeProgress progress,
                             handshake.feed(std::span<const std::byte>(bytes).first(came)));
    is_finished = progress.finished;
  }
  return {};
}

}  // namespace tessera::rma::server
