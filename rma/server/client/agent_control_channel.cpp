// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/client/agent_control_channel.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/server/client/transient_connection.hpp"

namespace tessera::rma::server {

using detail::DirectorySlice;
using detail::JoinMessage;
using detail::LockOutcome;
using detail::PeerState;

AgentControlChannel::AgentControlChannel(std::shared_ptr<Client> client,
                                         std::shared_ptr<detail::Node> node,
                                         const detail::NodeMap& nodes,
                                         std::shared_ptr<const ShutdownNotices> notices) noexcept
    : client_(std::move(client)),
      node_(std::move(node)),
      nodes_(nodes),
      shutdown_notices_(std::move(notices)),
      directory_(node_->arena(), node_->lock_context()) {}

WorldRank AgentControlChannel::first_rank_of(NodeId node) const noexcept {
  return nodes_.first_rank_of(node);
}

Status AgentControlChannel::publish(RegionId memory, const detail::PublishedMemory& piece) {
  using Use = DirectorySlice::Use;
  const DirectorySlice slice{.owner = node_->ranks().front(),
                             .location = piece.offset,
                             .bytes = piece.bytes,
                             .use = piece.lock_bytes > 0 ? Use::locks : Use::mailboxes,
                             .unit = std::max<std::uint64_t>(piece.lock_bytes, 1)};
  return directory_.insert(memory, std::span(&slice, 1));
}

void AgentControlChannel::withdraw(RegionId memory) noexcept {
  const DirectorySlice slice{.owner = node_->ranks().front()};
  directory_.remove(memory, std::span(&slice, 1));
}

Status AgentControlChannel::deliver(NodeId node, RegionId memory, std::uint64_t offset,
                                    std::span<const std::byte> bytes, std::uint64_t flag_offset,
                                    std::uint64_t flag) {
  TESSERA_ASSIGN_OR_RETURN(ClientConnection * link, client_->links().to(node));
  FrameHeader header{.kind = Kind::deliver,
                     .payload_bytes = bytes.size(),
                     .origin = client_->options().rank,
                     .target = first_rank_of(node),
                     .operation = unmonitored_operation,
                     .region = memory,
                     .offset = offset,
                     .words = {flag_offset, flag}};
  return link->post_copy(header, bytes, ClientConnection::When::now);
}

// A rank's inbox may be full. The agent serves others, too, and does not wait for room, so this
// retries.
Status AgentControlChannel::send_join(WorldRank rank, const JoinMessage& message) {
  const FrameHeader header{.kind = Kind::join,
                           .origin = client_->options().rank,
                           .target = rank,
                           .region = RegionId{message.memory},
                           .offset = message.offset,
                           .words = {message.key, 0}};
  Result<std::uint64_t> is_in = std::uint64_t{0};
  detail::poll_until(detail::rank_waits, [&] {
    is_in = query_word(nodes_.node_of(rank), header);
    return !is_in.ok() || *is_in != 0;
  });
  return is_in.status();
}

Status AgentControlChannel::raise_flag(WorldRank rank, RegionId region, std::uint64_t offset,
                                       std::int32_t value) {
  TESSERA_ASSIGN_OR_RETURN(ClientConnection * link, client_->links().to(nodes_.node_of(rank)));
  const FrameHeader header{.kind = Kind::flag,
                           .origin = client_->options().rank,
                           .target = rank,
                           .region = region,
                           .offset = offset,
                           .words = {static_cast<std::uint32_t>(value), 0}};
  return link->post({.header = header}, ClientConnection::When::now);
}

Result<std::uint64_t> AgentControlChannel::notify(WorldRank rank) {
  const FrameHeader header{.kind = Kind::notify, .origin = client_->options().rank, .target = rank};
  return query_word(nodes_.node_of(rank), header);
}

FrameHeader AgentControlChannel::lock_request(Kind kind, NodeId node, RegionId memory,
                                              std::uint64_t offset) const {
  return {.kind = kind,
          .origin = client_->options().rank,
          .target = first_rank_of(node),
          .region = memory,
          .offset = offset};
}

Result<LockOutcome> AgentControlChannel::try_lock(NodeId node, RegionId memory,
                                                  std::uint64_t offset) {
  FrameHeader request = lock_request(Kind::lock, node, memory, offset);
  request.words[0] = lock_without_waiting;
  TESSERA_ASSIGN_OR_RETURN(const std::uint64_t word, query_word(node, request));
  return lock_outcome(word);
}

Status AgentControlChannel::unlock(NodeId node, RegionId memory, std::uint64_t offset) {
  TESSERA_ASSIGN_OR_RETURN(ClientConnection * link, client_->links().to(node));
  Status posted = link->post({.header = lock_request(Kind::unlock, node, memory, offset)},
                             ClientConnection::When::now);
  link->route().record_locks(-1);
  return posted;
}

Result<PeerState> AgentControlChannel::peer_state_of(WorldRank rank) {
  return detail::catch_bad_alloc([&] { return query_state_of(rank); });
}

Result<PeerState> AgentControlChannel::query_state_of(WorldRank rank) {
  const NodeId node = nodes_.node_of(rank);
  if (const auto known = shutdown_notices_->peer_state_of(rank)) {
    return *known;
  }
  const FrameHeader header{.kind = Kind::probe, .origin = client_->options().rank, .target = rank};
  const auto state = query_briefly(node, header);
  if (state.ok()) {
    return *state <= static_cast<std::uint64_t>(PeerState::died) ? static_cast<PeerState>(*state)
                                                                 : PeerState::died;
  }
  if (detail::is_local_resource_error(state.status())) {
    return state.status();
  }
  // Its node may have left meanwhile, with a shutdown notice before its agent ended.
  const auto known = shutdown_notices_->peer_state_of(rank);
  return known ? Result<PeerState>(*known) : state_of_unreachable(rank, state.status());
}

// No agent responds for the rank. An agent listens as long as its process lives. So if there was a
// connection, and the port is closed now or belongs to another program, that process has ended.
Result<PeerState> AgentControlChannel::state_of_unreachable(WorldRank rank, const Status& failure) {
  const NodeId node = nodes_.node_of(rank);
  if (const ClientConnection* const link = client_->links().existing(node);
      link != nullptr && !link->is_lost() && link->channel().is_connected()) {
    return PeerState::unknown;  // possibly stopped
  }
  bool is_known = client_->links().contact(node).is_lost;
  {
    const std::lock_guard guard(losses_mutex_);
    const auto loss = losses_.find(rank);
    if (loss != losses_.end() && loss->second) {
      return PeerState::died;
    }
    is_known = is_known || loss != losses_.end();
  }
  const Code code = failure.code();
  const bool is_silent = code == Code::unreachable || code == Code::timed_out;
  if (is_known) {
    return is_silent ? Result<PeerState>(Status::error_at(rank, Code::peer_lost, failure.message()))
                     : Result<PeerState>(PeerState::died);
  }
  const auto timeout = code == Code::unreachable
                           ? std::chrono::nanoseconds(longest_silence)
                           : std::chrono::nanoseconds(client_->options().connect_timeout);
  return is_silent && client_->links().silence_of(node) < timeout
             ? Result<PeerState>(PeerState::unknown)
             : Result<PeerState>(failure);
}

void AgentControlChannel::record_loss(WorldRank rank, bool has_died) noexcept {
  detail::catch_bad_alloc([&]() -> Status {
    const std::lock_guard guard(losses_mutex_);
    bool& has = losses_[rank];
    has = has || has_died;
    return {};
  }).ignore("the loss is also found later without this record");
}

// The caller waits in a team's collective and must keep checking its own node.
Result<std::optional<std::uint32_t>> AgentControlChannel::read_word(NodeId node, RegionId memory,
                                                                    std::uint64_t offset) {
  const FrameHeader header{.kind = Kind::get,
                           .origin = client_->options().rank,
                           .target = first_rank_of(node),
                           .region = memory,
                           .offset = offset,
                           .words = {0, sizeof(std::uint32_t)}};
  TESSERA_ASSIGN_OR_RETURN(ClientConnection * link, client_->links().to(node));
  const auto word = query_until(std::chrono::steady_clock::now() + query_timeout(), *link, header);
  if (word.ok()) {
    return std::optional(static_cast<std::uint32_t>(*word));
  }
  // An agent that passes on requests to the node may be lost while the node itself is alive.
  const Code code = word.status().code();
  return (code == Code::timed_out || code == Code::peer_lost) && !link->is_lost()
             ? Result<std::optional<std::uint32_t>>(std::optional<std::uint32_t>())
             : word.status();
}

Status AgentControlChannel::connect(NodeId node) {
  return client_->links().to(node).status();
}

namespace {

// `way` is a ClientConnection or a wrapper whose wait() receives the reply.
template <class Way>
Result<std::uint64_t> query_word_with(Way& way, ClientConnection& link, const FrameHeader& header) {
  Completion done;
  done.begin();
  std::int64_t word = 0;
  PendingReply pending;
  pending.done = &done;
  pending.word = &word;
  pending.is_lock = header.kind == Kind::lock;
  TESSERA_RETURN_IF_ERROR(link.ask(header, {}, std::move(pending)));
  way.wait(done);
  TESSERA_RETURN_IF_ERROR(done.take_error());
  return static_cast<std::uint64_t>(word);
}

// Waits for a query, which has a time limit.
struct DeadlineWait {
  TransientConnection& connection;
  TransientConnection::TimePoint deadline;
  void wait(Completion& done) const { connection.wait(done, deadline); }
};

// Waits and calls `check` in between.
struct CheckingWait {
  Client& client;
  const std::function<void()>& check;
  void wait(Completion& done) const {
    client.progress().wait_until(done, [this] {
      check();
      return false;
    });
  }
};

}  // namespace

Result<LockOutcome> AgentControlChannel::lock(NodeId node, RegionId memory, std::uint64_t offset,
                                              const std::function<void()>& check) {
  TESSERA_ASSIGN_OR_RETURN(ClientConnection * link, client_->links().to(node));
  const CheckingWait way{*client_, check};
  TESSERA_ASSIGN_OR_RETURN(
      const std::uint64_t word,
      query_word_with(way, *link, lock_request(Kind::lock, node, memory, offset)));
  return lock_outcome(word);
}

Result<std::uint64_t> AgentControlChannel::query_word(NodeId node, const FrameHeader& header) {
  TESSERA_ASSIGN_OR_RETURN(ClientConnection * link, client_->links().to(node));
  return query_word_with(*link, *link, header);
}

std::chrono::milliseconds AgentControlChannel::query_timeout() const {
  constexpr std::chrono::milliseconds most{2'000};
  constexpr int parts = 5;  // of the time that an operation has to connect
  return std::min(most, client_->options().connect_timeout / parts);
}

// A rank that waits long checks every node now and then, and does not need a link to each. A link
// that is lost says nothing about the ranks there.
Result<std::uint64_t> AgentControlChannel::query_briefly(NodeId node, const FrameHeader& header) {
  const auto timeout = query_timeout();
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  ClientConnection* const link = client_->links().existing(node);
  if (link != nullptr && !link->is_lost() && link->channel().is_connected()) {
    auto word = query_until(deadline, *link, header);
    if (word.ok() || !link->is_lost()) {
      return word;
    }
  }
  // Failing to connect is evidence about the node; losing the new connection again is not.
  while (true) {
    TESSERA_ASSIGN_OR_RETURN(TransientConnection transient,
                             TransientConnection::open(*client_, node, timeout));
    DeadlineWait way{transient, deadline};
    auto word = query_word_with(way, transient.link(), header);
    if (word.ok() || word.status().code() != Code::peer_lost) {
      return word;
    }
    if (std::chrono::steady_clock::now() > deadline) {
      return Status::error(Code::unreachable, word.status().message());
    }
  }
}

// The agent may be stopped. A late reply goes to memory that is kept until then.
Result<std::uint64_t> AgentControlChannel::query_until(TransientConnection::TimePoint deadline,
                                                       ClientConnection& link,
                                                       const FrameHeader& header) {
  struct PendingQuery {
    Completion done;
    std::int64_t word = 0;
  };
  const auto question = std::make_shared<PendingQuery>();
  question->done.begin();
  PendingReply pending;
  pending.done = &question->done;
  pending.word = &question->word;
  pending.held = question;
  TESSERA_RETURN_IF_ERROR(link.ask(header, {}, std::move(pending)));
  if (!client_->progress().wait_until(
          question->done, [] { return false; }, deadline)) {
    return Status::error(Code::timed_out, "the agent does not answer at present");
  }
  TESSERA_RETURN_IF_ERROR(question->done.take_error());
  return static_cast<std::uint64_t>(question->word);
}

}  // namespace tessera::rma::server
