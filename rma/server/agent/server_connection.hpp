// SPDX-License-Identifier: BSD-3-Clause
//
// ServerConnection: the agent's side of one connection: first the handshake, then requests and
// their replies, in the order of the stream. A request is executed when its payload is complete.
//
// Puts of long rows and long deliveries are received directly into their target. Gets of long rows
// are sent directly from memory, except those of a few KiB (FrameWriter). Short rows are packed
// through a buffer. The unsent replies to a peer are bounded: while they wait for room, no further
// requests are read.
//
// All input is checked. A malformed frame ends the connection after the peer was sent the reason. A
// valid request that cannot be executed is answered with its error. A slice may be freed while its
// payload is arriving, so memory is looked up again, and pinned, whenever bytes are stored into it.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rma/engine/channel.hpp"
#include "rma/engine/rdma.hpp"
#include "rma/server/agent/executor.hpp"
#include "rma/server/agent/forwarder.hpp"
#include "rma/server/agent/lock_server.hpp"
#include "rma/server/agent/reply_connections.hpp"
#include "rma/server/agent/route_table.hpp"
#include "rma/server/connection/packed_buffer.hpp"
#include "rma/server/connection/stream.hpp"
#include "rma/server/wire/handshake.hpp"
#include "rma/server/wire/parts.hpp"
#include "rma/server/wire/wire.hpp"

namespace tessera::rma::server {

using detail::Channel;

struct ServerConnectionOptions {
  int lane = 0;  ///< shard of the directory
  /// Replies that had no room; above this no request is read.
  std::size_t max_unsent_reply_bytes = max_packed_bytes;
  PackingLimits limits{};
  detail::RdmaContext* fabric =
      nullptr;                     ///< over which peers may continue; outlives the connection
  BufferPool* buffers = nullptr;   ///< receive buffers; null: the connection has its own
  Forwarder* forwarder = nullptr;  ///< passes on requests for other nodes; null: none
  Replies* replies = nullptr;  ///< connections for direct replies to forwarded requests; null: none
  Routes* routes = nullptr;    ///< the agent's record of routes; null: none
};

class ServerConnection final : private FrameSink {
 public:
  ServerConnection(std::unique_ptr<Channel> channel, HandshakeServer handshake, detail::Node& node,
                   RemoteLockServer& locks, ServerConnectionOptions options = {});

  /// Reads what has come and executes it; returns whether anything came. Errors: peer_lost,
  /// protocol: the connection is over.
  Result<bool> advance();
  /// Sends the peer the reason why the connection ends, as far as there is room.
  void send_reason(const Status& reason);
  /// Notifies the peer that the agent shuts down properly, as far as there is room.
  void say_bye();
  /// Sends more of the replies. Errors: as advance().
  Status flush();

  /// Frees memory that was not used since the last call.
  void release_memory() noexcept {
    if (!reader_.is_inside_frame()) {
      packed_.look();
    }
    writer_.look();
  }
  /// As Channel::check.
  [[nodiscard]] Status check_peer_lives() const { return channel_->check(); }

  /// Some replies had no room yet; requests are read again after those are sent.
  [[nodiscard]] bool has_answers_waiting() const noexcept { return !writer_.is_empty(); }
  /// False if writability of the descriptor does not signal room for unsent replies.
  [[nodiscard]] bool shows_room() const noexcept { return channel_->shows_room(); }
  /// As Channel::on_readable.
  Status on_readable() { return channel_->on_readable(); }
  [[nodiscard]] bool may_read() const noexcept {
    return !waits_for_trunk_ && writer_.kept_bytes() < options_.max_unsent_reply_bytes;
  }
  /// The request that could not be passed on may be retried.
  void resume() noexcept { waits_for_trunk_ = false; }
  /// Sends a reply that another agent gave. Errors: as advance().
  Status pass_back(const FrameHeader& answer, std::vector<std::byte> payload);
  /// A request has come that was deferred because too many replies were unsent, and may be executed
  /// now. The peer need not send anything more, so no descriptor event announces it.
  [[nodiscard]] bool has_request_waiting() const noexcept {
    return reader_.is_held_up() && may_read();
  }
  [[nodiscard]] int descriptor() const noexcept { return channel_->descriptor(); }
  [[nodiscard]] bool is_authenticated() const noexcept { return is_authenticated_; }
  /// The rank at the other end. Requires: is_authenticated().
  [[nodiscard]] WorldRank origin() const noexcept { return origin_; }
  /// True if another agent passes requests on over this connection, so that it is not a process's.
  [[nodiscard]] bool is_trunk() const noexcept { return trunk_of_.value >= 0; }
  /// True if the peer closed the connection properly.
  [[nodiscard]] bool closed_gracefully() const noexcept { return closed_gracefully_; }
  /// The last advance() ended with a frame that a rank of this node may be waiting for.
  [[nodiscard]] bool was_awaited() const noexcept { return reader_.was_awaited(); }
  /// Whether urgent requests came since the last call: the peer, or a rank in a collective, waits
  /// for them.
  bool take_pressed() noexcept { return std::exchange(was_urgent_, false); }
  /// Sends the reply to a lock request. Errors: as advance().
  Status answer_lock(const FrameHeader& request, Result<std::uint64_t> word);
  /// True if a request or the handshake would be incomplete if the connection ended now.
  [[nodiscard]] bool is_unfinished() const noexcept {
    return is_authenticated_ ? !is_over_ && reader_.is_inside_frame() : has_begun_;
  }
  /// What would be incomplete: "in the middle of its handshake"; empty if nothing.
  [[nodiscard]] std::string unfinished() const;
  /// "rank 3 at 10.99.0.2:40123", for messages.
  [[nodiscard]] std::string peer() const;

 private:
  Status begin(const FrameHeader& header, std::span<const std::byte> descriptor,
               std::vector<iovec>& into) override;
  Status begin_request(const FrameHeader& header, std::span<const std::byte> descriptor,
                       std::vector<iovec>& into);
  Status end(const FrameHeader& header) override;
  Status caught_up() override;
  [[nodiscard]] bool takes(const FrameHeader& header) override;
  [[nodiscard]] bool is_ready() const override { return may_read(); }
  // The rank that waits for it may be the thread that reads here. A path announces arrivals only
  // once, so everything on it is read.
  [[nodiscard]] bool is_awaited(const FrameHeader& header) const override {
    return path_ == nullptr && (header.kind == Kind::flag || header.kind == Kind::notify);
  }
  Result<std::size_t> receive_payload(Channel& channel, std::vector<iovec>& places,
                                      std::size_t next, iovec rest) override;
  void store_payload(std::span<const iovec> places, std::span<const std::byte> bytes) override;
  template <class Store>
  void store_in_place(Store&& store);
  Result<std::size_t> discard(Channel& channel, std::size_t bytes);

  Result<bool> advance_unguarded();
  Result<bool> shake_hands();
  Status check_form(const FrameHeader& header) const;
  Status check_peer(const FrameHeader& header) const;
  Status check_forwarded(const FrameHeader& header) const;
  [[nodiscard]] bool is_for_other(const FrameHeader& header) const;
  Status begin_passing_on(const FrameHeader& header, std::span<const std::byte> descriptor,
                          std::vector<iovec>& into);
  [[nodiscard]] const Pattern& pattern() const;
  Status read_terms(const FrameHeader& header, std::span<const std::byte> descriptor);
  Status read_address(std::span<const std::byte> descriptor);
  Result<Pattern> read_pattern(const FrameHeader& header,
                               std::span<const std::byte> descriptor) const;
  Status check_sizes(const FrameHeader& header, std::uint64_t moved) const;
  void find_places(const FrameHeader& header, std::vector<iovec>& into);
  Status take_payload(const FrameHeader& header, std::vector<iovec>& into);

  Status execute(const FrameHeader& header);
  Status execute_on_slice(const FrameHeader& header);
  Status execute_put(const FrameHeader& header, const Place& place);
  Status execute_get(const FrameHeader& header, const Place& place);
  Status execute_accumulate(const FrameHeader& header, const Place& place);
  Status execute_atomic(const FrameHeader& header, const Place& place);
  Status execute_deliver(const FrameHeader& header, bool is_stored);
  Status execute_join(const FrameHeader& header);
  Status execute_probe(const FrameHeader& header);
  Status execute_flag(const FrameHeader& header, const Place& place);
  Status execute_notify(const FrameHeader& header);
  Status execute_locate(const FrameHeader& header, const Place& place);
  Status execute_push(const FrameHeader& header, const Place& place);
  Status execute_path(const FrameHeader& header);
  Status execute_registration(const FrameHeader& header);
  Status move_to_path();
  Result<int> local_rank_of(WorldRank rank) const;
  [[nodiscard]] FrameWriter& writer_for(const FrameHeader& request);
  Status acknowledge();
  Status answer(const FrameHeader& request, Kind kind, std::uint64_t word = 0);
  Status answer_data(const FrameHeader& request, std::vector<std::byte> packed);
  Status answer_failure(const FrameHeader& request, const Status& failure);
  Status sent(Status posted);
  Status sent(const FrameHeader& request, Status posted);

  std::unique_ptr<Channel> channel_;
  std::unique_ptr<detail::RdmaConnection>
      next_;                                    // replaces the channel after the reply that says so
  detail::RdmaConnection* path_ = nullptr;      // the channel, once it is a path
  detail::RdmaAddressBytes peer_address_{};     // the peer's address for a path
  std::unique_ptr<HandshakeServer> handshake_;  // until the peer is authenticated
  WorldRank origin_;
  detail::Node& node_;
  RemoteLockServer& locks_;
  ServerConnectionOptions options_;
  Executor executor_;
  FrameWriter writer_;
  FrameReader reader_;
  bool is_authenticated_ = false;
  bool is_of_own_node_ = false;
  bool has_begun_ = false;  // bytes of a handshake have come
  bool closed_gracefully_ = false;
  bool was_urgent_ = false;
  bool is_over_ = false;          // the peer sent `bye`, or nothing can be sent to it.
  bool waits_for_trunk_ = false;  // with a request that cannot be passed on yet
  NodeId trunk_of_{-1};           // the node whose agent passes requests on over it
  std::uint64_t executed_ = 0;    // forwarded requests executed and not yet acknowledged
  FrameHeader current_;           // the header of the request whose payload is arriving

  // The request whose payload is arriving.
  Pattern pattern_;
  std::optional<AccumulateTerms> accumulate_;
  AtomicTerms atomic_;
  Status refusal_;
  bool is_in_place_ = false;           // its payload goes, or went, directly to memory
  bool is_passed_on_ = false;          // it is for another node
  bool is_stale_ = false;              // its origin has changed its route since
  std::vector<std::byte> descriptor_;  // of a request that is passed on
  std::vector<std::byte> payload_;     // of a request that is passed on
  PackedBuffer packed_;                // its payload otherwise
};

}  // namespace tessera::rma::server
