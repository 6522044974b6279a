// SPDX-License-Identifier: BSD-3-Clause
//
// Conversation: one connection as the agent of a node has it: the handshake, then requests, each
// carried out when its payload is complete, and their answers, all in the order of the stream.
//
// Puts of long rows and long deliveries are received in their place, gets of long rows are sent
// from it unless a few KiB (FrameWriter); short rows go packed through a buffer. What one peer may
// have waiting is bounded: while answers wait for room, no more requests are looked at.
//
// Nothing that comes is believed. A frame that no Tessera sends ends the conversation, and the peer
// is told why; a request that makes sense and cannot be carried out is answered with its error. A
// slice may be freed while its payload is on the way: memory is looked up again, and kept, whenever
// bytes are stored into it.
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
#include "rma/engine/fabric.hpp"
#include "rma/server/executor.hpp"
#include "rma/server/forwarder.hpp"
#include "rma/server/handshake.hpp"
#include "rma/server/lock_keeper.hpp"
#include "rma/server/packed_buffer.hpp"
#include "rma/server/parts.hpp"
#include "rma/server/replies.hpp"
#include "rma/server/routes.hpp"
#include "rma/server/stream.hpp"
#include "rma/server/wire.hpp"

namespace tessera::rma::server {

using detail::Channel;

struct ConversationOptions {
  int lane = 0;  ///< of the directory
  /// Of answers that had no room; while there are more no request is read.
  std::size_t most_kept_bytes = max_packed_bytes;
  PackingLimits limits{};
  detail::Fabric* fabric = nullptr;  ///< over which peers may go on; it outlives the conversation
  BufferPool* buffers = nullptr;     ///< to receive into; null: the conversation has its own
  Forwarder* forwarder = nullptr;    ///< of requests for other nodes; null: there is none
  Replies* replies = nullptr;        ///< to those whose requests others passed on; likewise
  Routes* routes = nullptr;          ///< of all of them; likewise
};

class Conversation final : private FrameSink {
 public:
  Conversation(std::unique_ptr<Channel> channel, HandshakeServer handshake, detail::Node& node,
               LockKeeper& locks, ConversationOptions options = {});

  /// Takes what has come and carries it out; returns whether anything came. Errors: peer_lost,
  /// protocol: the conversation is over.
  Result<bool> advance();
  /// Tells the peer why the conversation is over, as far as there is room.
  void say_why(const Status& reason);
  /// Tells the peer that the agent ends in good order, as far as there is room.
  void say_bye();
  /// Sends more of the answers. Errors: as advance().
  Status flush();

  /// Gives back memory that wasn't used since the last call.
  void release_memory() noexcept {
    if (!reader_.is_inside_frame()) {
      packed_.look();
    }
    writer_.look();
  }
  /// As Channel::check.
  [[nodiscard]] Status check_peer_lives() const { return channel_->check(); }

  /// There are answers that had no room; requests are read again when they are gone.
  [[nodiscard]] bool has_answers_waiting() const noexcept { return !writer_.is_empty(); }
  /// What is waiting goes when the descriptor becomes writable.
  [[nodiscard]] bool shows_room() const noexcept { return channel_->shows_room(); }
  /// As Channel::heed_descriptor.
  Status heed_descriptor() { return channel_->heed_descriptor(); }
  [[nodiscard]] bool may_read() const noexcept {
    return !waits_for_trunk_ && writer_.kept_bytes() < options_.most_kept_bytes;
  }
  /// A request that could not be passed on may go on.
  void resume() noexcept { waits_for_trunk_ = false; }
  /// Sends an answer that another agent gave. Errors: as advance().
  Status pass_back(const FrameHeader& answer, std::vector<std::byte> payload);
  /// A request has come that was not taken up, as too many answers were waiting, and may be now.
  /// Nothing more needs to come from the peer, so no descriptor tells of it.
  [[nodiscard]] bool has_request_waiting() const noexcept {
    return reader_.is_held_up() && may_read();
  }
  [[nodiscard]] int descriptor() const noexcept { return channel_->descriptor(); }
  [[nodiscard]] bool is_introduced() const noexcept { return is_introduced_; }
  /// Who it is. Requires: is_introduced().
  [[nodiscard]] WorldRank origin() const noexcept { return origin_; }
  /// True where another agent passes requests on by it: it is no process's conversation.
  [[nodiscard]] bool is_trunk() const noexcept { return trunk_of_.value >= 0; }
  /// True when the peer ended it in good order.
  [[nodiscard]] bool has_said_bye() const noexcept { return has_said_bye_; }
  /// The last advance() ended with what a rank of this node may wait for.
  [[nodiscard]] bool was_awaited() const noexcept { return reader_.was_awaited(); }
  /// Whether, since it was asked before, requests came that press: the peer waits for an answer, or
  /// a rank in a collective.
  bool take_pressed() noexcept { return std::exchange(was_pressed_, false); }
  /// Answers a request for a lock. Errors: as advance().
  Status answer_lock(const FrameHeader& request, Result<std::uint64_t> word);
  /// Whether something is if nothing more comes.
  [[nodiscard]] bool is_unfinished() const noexcept {
    return is_introduced_ ? !is_over_ && reader_.is_inside_frame() : has_begun_;
  }
  /// What is unfinished then: "in the middle of its handshake"; or empty.
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
  // A rank that waits for it may be the one that reads here. A path tells of what has come once
  // only, so all of it is read.
  [[nodiscard]] bool is_awaited(const FrameHeader& header) const override {
    return path_ == nullptr && (header.kind == Kind::flag || header.kind == Kind::notify);
  }
  Result<std::size_t> receive_payload(Channel& channel, std::vector<iovec>& places,
                                      std::size_t next, iovec rest) override;
  void store_payload(std::span<const iovec> places, std::span<const std::byte> bytes) override;
  template <class Store>
  void store_in_place(Store&& store);
  Result<std::size_t> throw_away(Channel& channel, std::size_t bytes);

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
  Status execute_invite(const FrameHeader& header);
  Status execute_probe(const FrameHeader& header);
  Status execute_flag(const FrameHeader& header, const Place& place);
  Status execute_notify(const FrameHeader& header);
  Status execute_locate(const FrameHeader& header, const Place& place);
  Status execute_push(const FrameHeader& header, const Place& place);
  Status execute_path(const FrameHeader& header);
  Status execute_introduction(const FrameHeader& header);
  Status move_to_path();
  Result<int> place_of(WorldRank rank) const;
  [[nodiscard]] FrameWriter& writer_for(const FrameHeader& request);
  Status acknowledge();
  Status answer(const FrameHeader& request, Kind kind, std::uint64_t word = 0);
  Status answer_data(const FrameHeader& request, std::vector<std::byte> packed);
  Status answer_failure(const FrameHeader& request, const Status& failure);
  Status sent(Status posted);
  Status sent(const FrameHeader& request, Status posted);

  std::unique_ptr<Channel> channel_;
  std::unique_ptr<detail::Path> next_;  // that replaces the channel behind the answer that says so
  detail::Path* path_ = nullptr;        // the channel, once it is one
  detail::PathAddressBytes asker_{};    // of a path
  std::unique_ptr<HandshakeServer> handshake_;  // until the peer is introduced
  WorldRank origin_;
  detail::Node& node_;
  LockKeeper& locks_;
  ConversationOptions options_;
  Executor executor_;
  FrameWriter writer_;
  FrameReader reader_;
  bool is_introduced_ = false;
  bool is_of_own_node_ = false;
  bool has_begun_ = false;  // something of a handshake has come
  bool has_said_bye_ = false;
  bool was_pressed_ = false;
  bool is_over_ = false;           // the peer said good-bye, or cannot be sent anything
  bool waits_for_trunk_ = false;   // with a request that cannot be passed on yet
  NodeId trunk_of_{-1};            // whose agent passes requests on by it
  std::uint64_t carried_out_ = 0;  // of those, and not yet acknowledged
  FrameHeader current_;            // whose payload comes

  // Of the request whose payload comes.
  Pattern pattern_;
  std::optional<AccumulateTerms> accumulate_;
  AtomicTerms atomic_;
  Status refusal_;
  bool is_in_place_ = false;           // its payload goes, or went, straight to memory
  bool is_passed_on_ = false;          // it is for another node
  bool is_stale_ = false;              // its origin has another way by now
  std::vector<std::byte> descriptor_;  // of what is passed on
  std::vector<std::byte> payload_;     // likewise
  PackedBuffer packed_;                // its payload, else
};

}  // namespace tessera::rma::server
