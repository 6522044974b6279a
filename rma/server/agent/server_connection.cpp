// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/agent/server_connection.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"

namespace tessera::rma::server {
namespace {

FrameHeader reply_header(const FrameHeader& request, Kind kind) noexcept {
  return {.kind = kind,
          .origin = request.origin,
          .target = request.target,
          .operation = request.operation,
          .route = request.route};
}

}  // namespace

ServerConnection::ServerConnection(std::unique_ptr<Channel> channel, HandshakeServer handshake,
                                   detail::Node& node, RemoteLockServer& locks,
                                   const ServerConnectionOptions& options)
    : channel_(std::move(channel)),
      handshake_(std::make_unique<HandshakeServer>(std::move(handshake))),
      node_(node),
      options_(options),
      queue_(*channel_),
      receiver_(*this, node, locks, options_),
      reader_(*channel_, receiver_, options.buffers) {}

std::string ServerConnection::peer_name() const {
  return peer_.is_authenticated ? fmt::format("rank {} at {}", peer_.origin.value, channel_->peer())
                                : channel_->peer();
}

// The agent serves other connections too, so an allocation failure ends only this one.
Result<bool> ServerConnection::advance() {
  return detail::catch_bad_alloc(
      [this] { return peer_.is_authenticated ? reader_.advance() : shake_hands(); },
      "the agent's process has no memory for a request");
}

// The handshake sends only a few bytes, for which a new socket always has room.
Result<bool> ServerConnection::shake_hands() {
  std::array<std::byte, 512> bytes;
  const iovec room{bytes.data(), bytes.size()};
  TESSERA_ASSIGN_OR_RETURN(const std::size_t received, channel_->receive(std::span(&room, 1)));
  if (received == 0) {
    return false;
  }
  has_begun_ = true;
  const auto in = std::span<const std::byte>(bytes).first(received);
  const auto progress = handshake_->feed(in);
  const auto out = handshake_->outgoing();
  if (!out.empty()) {
    const iovec message{const_cast<std::byte*>(out.data()), out.size()};
    TESSERA_ASSIGN_OR_RETURN(const std::size_t sent, channel_->send(std::span(&message, 1)));
    handshake_->sent(sent);
  }
  TESSERA_RETURN_IF_ERROR(progress.status());
  if (progress->finished) {
    peer_.is_authenticated = true;
    peer_.origin = handshake_->origin();
    handshake_.reset();
    peer_.is_of_own_node = node_.local_rank_of(peer_.origin) >= 0;
    TESSERA_RETURN_IF_ERROR(reader_.begin_with(in.subspan(progress->consumed)));
  }
  return true;
}

Status ServerConnection::flush() {
  TESSERA_RETURN_IF_ERROR(queue_.flush());
  return next_channel_ == nullptr ? Status() : move_to_rdma();
}

void ServerConnection::send_reason(const Status& reason) {
  if (peer_.is_authenticated && !peer_.is_over) {
    answer_failure({.origin = peer_.origin}, reason).ignore("the connection ends in any case");
    queue_.flush().ignore("the connection ends in any case");
  }
}

void ServerConnection::send_bye() {
  if (peer_.is_authenticated) {
    const FrameHeader bye{.kind = Kind::bye, .origin = peer_.origin};
    try_to_post({}, [&] {
      return queue_.post(encode(bye), {}, nullptr);
    }).ignore("a peer that is not notified finds that the agent is gone");
  }
}

void ServerConnection::release_unused() noexcept {
  if (!reader_.is_inside_frame()) {
    receiver_.release_unused();
  }
  queue_.release_unused();
}

std::uint32_t ServerConnection::wanted_events() const noexcept {
  const bool has_unsent = !queue_.is_empty() && channel_->shows_room();
  const bool has_request_waiting = reader_.is_held_up() && may_read();
  return (may_read() ? static_cast<std::uint32_t>(EPOLLIN) : 0U) |
         (has_unsent || has_request_waiting ? static_cast<std::uint32_t>(EPOLLOUT) : 0U);
}

std::string ServerConnection::unfinished() const {
  if (!peer_.is_authenticated) {
    return has_begun_ ? "in the middle of its handshake" : "";
  }
  return peer_.is_over || !reader_.is_inside_frame() ? "" : receiver_.unfinished();
}

// --- Replies.

// Other agents forward requests over a trunk. The reply to such a request goes directly over the
// connection of the rank that sent it, if that rank has one to this agent.
SendQueue& ServerConnection::queue_for(const FrameHeader& request) {
  if (request.forwarder < 0 || request.reply_to < 0 || options_.replies == nullptr) {
    return queue_;
  }
  ServerConnection* const other = options_.replies->write_to(request.origin);
  return other != nullptr ? other->queue_ : queue_;
}

// If the reply to a peer cannot be posted, its connection ends. A direct reply uses another
// connection, whose failure is reported when that connection is read.
Status ServerConnection::record_posted(const FrameHeader& request, Status posted) {
  if (request.forwarder >= 0 && request.reply_to >= 0) {
    return {};
  }
  peer_.is_over = peer_.is_over || !posted.ok();
  return posted;
}

// For messages that the peer must get: without memory to post one, the connection ends.
template <class Post>
Status ServerConnection::try_to_post(const FrameHeader& request, const Post& post) {
  return record_posted(request, detail::catch_bad_alloc(post));
}

Status ServerConnection::send(const FrameHeader& frame, std::vector<std::byte> payload) {
  return try_to_post({}, [&] {
    return payload.empty() ? queue_.post(encode(frame), {}, nullptr, SendQueue::When::soon)
                           : queue_.post(encode(frame), std::move(payload), SendQueue::When::soon);
  });
}

Status ServerConnection::answer(const FrameHeader& request, Kind kind, std::uint64_t word) {
  FrameHeader header = reply_header(request, kind);
  header.words[0] = word;
  return try_to_post(request, [&] {
    return queue_for(request).post(encode(header), {}, nullptr, SendQueue::When::soon);
  });
}

Status ServerConnection::answer(const FrameHeader& request, const Result<std::uint64_t>& word) {
  return word.ok() ? answer(request, Kind::value, *word) : answer_failure(request, word.status());
}

Status ServerConnection::answer_data(const FrameHeader& request, std::vector<std::byte> packed) {
  FrameHeader header = reply_header(request, Kind::data);
  header.payload_bytes = packed.size();
  return record_posted(
      request, queue_for(request).post(encode(header), std::move(packed), SendQueue::When::soon));
}

Status ServerConnection::answer_data(const FrameHeader& request, std::span<const iovec> pieces,
                                     std::uint64_t bytes) {
  FrameHeader header = reply_header(request, Kind::data);
  header.payload_bytes = bytes;
  return record_posted(
      request, queue_for(request).post(encode(header), pieces, nullptr, SendQueue::When::soon));
}

Status ServerConnection::answer_failure(const FrameHeader& request, const Status& failure) {
  return try_to_post(request, [&] {
    FrameHeader header = reply_header(request, Kind::failed);
    std::vector<std::byte> text;
    encode_failure(failure, text);
    header.payload_bytes = text.size();
    return queue_for(request).post(encode(header), std::move(text), SendQueue::When::soon);
  });
}

// --- The move from TCP to an RDMA connection ("path" in the wire format).

// The peer sends nothing until it has the reply, and then continues over the RDMA connection.
Status ServerConnection::open_connection(const FrameHeader& request,
                                         const detail::RdmaAddressBytes& other) {
  if (options_.rdma == nullptr || next_channel_ != nullptr || !channel_->shows_room()) {
    return Status::error(Code::unsupported,
                         "this node's agent has no network other than TCP, or the "
                         "connection has already left TCP");
  }
  TESSERA_ASSIGN_OR_RETURN(auto connection, options_.rdma->open_connection());
  TESSERA_RETURN_IF_ERROR(connection->connect(other));
  const detail::RdmaAddressBytes address = connection->address();
  TESSERA_RETURN_IF_ERROR(
      answer_data(request, std::vector<std::byte>(address.begin(), address.end())));
  next_channel_ = std::move(connection);
  return {};
}

// Called by flush(): the reply with this end's address goes over TCP first.
Status ServerConnection::move_to_rdma() {
  if (!queue_.is_empty()) {
    return {};
  }
  if (reader_.is_inside_frame()) {
    return Status::error(Code::protocol,
                         fmt::format("{} asked to move to RDMA, but sent more over TCP before the "
                                     "reply",
                                     peer_name()));
  }
  next_channel_->watch(std::move(channel_));
  path_ = next_channel_.get();
  channel_ = std::move(next_channel_);
  queue_.move_to(*channel_);
  reader_.move_to(*channel_);
  return {};
}

}  // namespace tessera::rma::server
