// SPDX-License-Identifier: BSD-3-Clause
//
// ServerConnection: the agent's side of one connection: its bytes, the handshake, the replies and
// their flow control, and the move to another network. RequestReceiver processes the requests.
//
// The unsent replies to a peer are bounded: while they wait for room, no further requests are read.
// A malformed frame ends the connection after the peer was sent the reason.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rma/server/agent/forwarder.hpp"
#include "rma/server/agent/lock_server.hpp"
#include "rma/server/agent/reply_connections.hpp"
#include "rma/server/agent/request_receiver.hpp"
#include "rma/server/agent/route_table.hpp"
#include "rma/server/connection/frame_reader.hpp"
#include "rma/server/connection/send_queue.hpp"
#include "rma/server/wire/handshake.hpp"
#include "rma/server/wire/parts.hpp"
#include "rma/server/wire/wire.hpp"
#include "rma/transport/channel.hpp"
#include "rma/transport/rdma.hpp"

namespace tessera::rma::server {

struct ServerConnectionOptions {
  int shard = 0;  ///< of the directory of slices: the one that this agent thread locks
  /// Replies that had no room; above this no request is read.
  std::size_t max_unsent_reply_bytes = max_packed_bytes;
  PackingLimits limits{};
  detail::RdmaContext* rdma = nullptr;  ///< over which peers may continue; outlives the connection
  BufferPool* buffers = nullptr;        ///< receive buffers; null: the connection has its own
  Forwarder* forwarder = nullptr;       ///< passes on requests for other nodes; null: none
  /// Connections for direct replies to forwarded requests; null: none.
  ReplyConnections* replies = nullptr;
  RouteTable* routes = nullptr;  ///< the agent's record of routes; null: none
};

/// What is known of the other end of a connection.
struct ServedPeer {
  WorldRank origin;  ///< the rank, once it is authenticated
  bool is_authenticated = false;
  bool is_of_own_node = false;
  bool has_closed = false;  ///< it closed the connection properly
  bool is_over = false;     ///< nothing is read from it or sent to it any longer
  NodeId trunk_of{-1};      ///< the node whose agent passes requests on over it; −1: none
  [[nodiscard]] bool is_trunk() const noexcept { return trunk_of.value >= 0; }
};

class ServerConnection {
 public:
  ServerConnection(std::unique_ptr<Channel> channel, HandshakeServer handshake, detail::Node& node,
                   RemoteLockServer& locks, const ServerConnectionOptions& options = {});

  /// Receives bytes and executes the requests in them; returns whether any arrived. Errors:
  /// peer_lost, protocol; the connection has then ended.
  Result<bool> advance();
  /// Sends more of the replies. Errors: as advance().
  Status flush();
  /// Sends the peer the reason why the connection ends, unless the channel has no room.
  void send_reason(const Status& reason);
  /// Notifies the peer that the agent shuts down in order, unless the channel has no room.
  void send_bye();
  /// Frees memory that was not used since the last call.
  void release_unused() noexcept;
  /// As Channel::check.
  [[nodiscard]] Status check_peer_lives() const { return channel_->check(); }
  /// As Channel::on_readable.
  Status on_readable() { return channel_->on_readable(); }

  [[nodiscard]] int descriptor() const noexcept { return channel_->descriptor(); }
  /// The events (epoll flags) to wait for at the descriptor. If a whole request waits in the
  /// reader, the peer may send nothing more, so the connection waits until it can send.
  [[nodiscard]] std::uint32_t wanted_events() const noexcept;
  /// Whether requests may be read: the peer takes its replies, and no request waits to be passed
  /// on.
  [[nodiscard]] bool may_read() const noexcept {
    return !receiver_.waits_for_trunk() && has_room_for_replies();
  }
  [[nodiscard]] bool has_room_for_replies() const noexcept {
    return queue_.kept_bytes() < options_.max_unsent_reply_bytes;
  }
  [[nodiscard]] const ServedPeer& peer() const noexcept { return peer_; }
  [[nodiscard]] ServedPeer& peer() noexcept { return peer_; }
  /// "rank 3 at 10.99.0.2:40123", for messages.
  [[nodiscard]] std::string peer_name() const;
  /// What would be incomplete if the connection ended now: "in the middle of its handshake"; empty
  /// if nothing.
  [[nodiscard]] std::string unfinished() const;
  /// The last advance() ended with a frame that a rank of this node may be waiting for.
  [[nodiscard]] bool was_latency_critical() const noexcept {
    return reader_.was_latency_critical();
  }
  [[nodiscard]] RequestReceiver& receiver() noexcept { return receiver_; }

  /// Sends `frame` with `payload`; it may wait for others until flush(). Errors: as advance().
  Status send(const FrameHeader& frame, std::vector<std::byte> payload = {});
  /// Reply to a request, over this connection or over the one for direct replies. Errors: as
  /// advance(), if the reply was to go over this connection.
  Status answer(const FrameHeader& request, Kind kind, std::uint64_t word = 0);
  /// The same with the result, or the error, of a request for a word.
  Status answer(const FrameHeader& request, const Result<std::uint64_t>& word);
  Status answer_data(const FrameHeader& request, std::vector<std::byte> packed);
  /// The same from memory that stays valid, of `bytes` bytes.
  Status answer_data(const FrameHeader& request, std::span<const iovec> pieces,
                     std::uint64_t bytes);
  Status answer_failure(const FrameHeader& request, const Status& failure);
  // For the handlers of requests that concern the connection itself:
  /// Opens an RDMA connection to the address `other` and replies with its own address. flush()
  /// moves there after the reply. Errors: unsupported, and as RdmaContext::open_connection().
  Status open_connection(const FrameHeader& request, const detail::RdmaAddressBytes& other);
  /// The channel if it is an RDMA connection; else null.
  [[nodiscard]] detail::RdmaConnection* path() const noexcept { return path_; }

 private:
  Result<bool> shake_hands();
  Status move_to_rdma();
  [[nodiscard]] SendQueue& queue_for(const FrameHeader& request);
  Status record_posted(const FrameHeader& request, Status posted);
  template <class Post>
  Status try_to_post(const FrameHeader& request, const Post& post);

  std::unique_ptr<Channel> channel_;
  // Replaces the channel after the reply to the request to move.
  std::unique_ptr<detail::RdmaConnection> next_channel_;
  detail::RdmaConnection* path_ = nullptr;      // the channel, after the move
  std::unique_ptr<HandshakeServer> handshake_;  // until the peer is authenticated
  detail::Node& node_;
  const ServerConnectionOptions options_;
  ServedPeer peer_;
  SendQueue queue_;
  RequestReceiver receiver_;
  FrameReader reader_;
  bool has_begun_ = false;  // bytes of a handshake have arrived
};

}  // namespace tessera::rma::server
