// SPDX-License-Identifier: BSD-3-Clause
//
// Frames over a channel that never blocks. FrameWriter keeps the bytes that the channel had no room
// for. FrameReader splits arriving bytes into frames and stores payloads at their destinations.
//
// Large payloads move directly between the channel and user memory (gathered send, scattered
// receive). Only two things are copied: the contents of the reader's buffer, and frames of up to 16
// KiB that may wait for others. Several of those then cost one system call.
//
// Threads: one at a time for each object.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include "rma/completion.hpp"
#include "rma/engine/channel.hpp"
#include "rma/result.hpp"
#include "rma/server/connection/buffer_pool.hpp"
#include "rma/server/wire/wire.hpp"

namespace tessera::rma::server {

using detail::Channel;

class FrameWriter {
 public:
  explicit FrameWriter(Channel& channel) noexcept : channel_(&channel) {}
  /// Ends the frames that are still kept with peer_lost.
  ~FrameWriter();
  FrameWriter(const FrameWriter&) = delete;
  FrameWriter& operator=(const FrameWriter&) = delete;

  /// When a frame is sent.
  /// - `now`: at once.
  /// - `soon`: it may wait for further frames, because many small frames together cost little more
  /// than one.
  /// - `together`: it is kept, as if the channel had no room, until flush(), which sends the kept
  /// frames together.
  /// - `later`: as `together`; but if its body is the caller's memory, it waits until another
  /// thread calls flush(), because it is long.
  ///
  /// A caller that does not choose `now` ensures that flush() is called.
  enum class When : std::uint8_t { now, soon, together, later };

  /// Sends as many bytes as there is room for, after those that are kept, and keeps the rest.
  /// `head` is copied if necessary. The memory of `body` must stay valid until `sent` ends, which
  /// happens once, when all bytes are taken. Errors: peer_lost; no_memory for the rest of a frame,
  /// after which nothing more can be sent. `sent` does not end then. Throws std::bad_alloc; nothing
  /// was taken then.
  Status post(std::span<const std::byte> head, std::span<const iovec> body, Completion* sent,
              When when = When::now);
  /// The same with a body that the writer owns.
  Status post(std::span<const std::byte> head, std::vector<std::byte> body, When when = When::now);
  /// The same with a body whose unsent part the writer copies. So `sent` has ended at return,
  /// unless there was no memory for the copy.
  Status post_copy(std::span<const std::byte> head, std::span<const std::byte> body,
                   Completion& sent, When when = When::now);

  /// Frees the batch's memory if there was no batch since the last call.
  void look() noexcept;

  /// Sends more of the kept bytes. Errors: peer_lost, and no_memory as above; the caller then has
  /// to call fail(). Throws nothing.
  Status flush();

  /// A kept frame is left for another thread to send (When::later).
  [[nodiscard]] bool is_left() const noexcept { return has_deferred_; }

  /// The stream was cut in the middle of a frame: nothing more can be sent.
  [[nodiscard]] bool is_cut() const noexcept { return is_truncated_; }

  /// Ends all kept frames with `reason`.
  void fail(const Status& reason);

  /// Continues over another channel. Requires: is_empty().
  void move_to(Channel& channel) noexcept { channel_ = &channel; }

  [[nodiscard]] bool is_empty() const noexcept {
    return kept_.empty() && batch_.empty() && !is_truncated_;
  }
  /// The channel had no room for everything.
  [[nodiscard]] bool is_held_up() const noexcept { return !kept_.empty(); }
  [[nodiscard]] std::size_t kept_bytes() const noexcept { return kept_bytes_ + batch_.size(); }
  /// The memory that the writer itself uses: without bodies that are sent from the caller's memory.
  [[nodiscard]] std::size_t own_bytes() const noexcept { return own_bytes_ + batch_.size(); }

 private:
  struct Kept {
    std::vector<std::byte> head;  // followed by the pieces
    std::vector<std::byte> body;  // the memory of the last piece, if the writer owns it
    std::vector<iovec> pieces;
    std::size_t next = 0;  // the next piece to send
    Completion* sent = nullptr;
    [[nodiscard]] std::size_t own_bytes() const noexcept {
      return sizeof(Kept) + head.size() + body.size() + pieces.size() * sizeof(iovec);
    }
  };
  [[nodiscard]] bool may_send(When when) const noexcept {
    return kept_.empty() && (when == When::now || when == When::soon);
  }
  [[nodiscard]] bool joins_batch(std::size_t bytes, When when) const noexcept;
  Status add_to_batch(std::span<const std::byte> head, std::span<const iovec> body, When when);
  Status send_batch();
  Status move_batch(When when);
  Result<std::size_t> send_some(std::span<const std::byte> head, std::span<const std::byte> body,
                                When when);
  using Prepared = std::list<Kept>;  // one frame, to be sent or kept, or none
  static Prepared prepare(std::span<const std::byte> head, std::span<const iovec> body,
                          Completion* sent);
  void keep(Prepared frame, std::size_t taken) noexcept;
  Status keep_rest(std::span<const std::byte> head, std::span<const iovec> body, std::size_t taken,
                   Completion* sent, std::vector<std::byte>* own_body = nullptr);
  bool add_rest_to_batch(std::span<const std::byte> head, std::span<const iovec> body,
                         std::size_t taken) noexcept;
  [[nodiscard]] bool is_likely_kept(std::size_t bytes) const noexcept;
  [[nodiscard]] Status check_whole() const noexcept;
  Result<std::size_t> send_kept();
  void advance(std::size_t taken);

  Channel* channel_;
  std::list<Kept> kept_;
  std::size_t kept_bytes_ = 0;
  std::size_t own_bytes_ = 0;
  bool has_deferred_ = false;
  bool is_truncated_ =
      false;  // permanently, in the middle of a frame: there was no memory for its rest
  // Copies of frames that are sent together; empty while anything is kept.
  std::vector<std::byte> batch_;
  bool has_batched_ = false;  // since look()
};

/// The receiver of the frames.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  /// A header and descriptor have come. Fills `into` with the destinations of the payload, in order
  /// and exactly as long as it; if `into` stays empty, the payload is discarded. Reserve one
  /// element more than needed. An error ends the connection.
  virtual Status begin(const FrameHeader& header, std::span<const std::byte> descriptor,
                       std::vector<iovec>& into) = 0;
  /// The frame's payload is at its destination.
  virtual Status end(const FrameHeader& header) = 0;
  /// Everything that has come was processed. An error ends the connection.
  virtual Status caught_up() { return {}; }

  /// True if a thread may be waiting for this very frame and should not also wait for the frames
  /// after it.
  [[nodiscard]] virtual bool is_awaited(const FrameHeader& /*header*/) const { return false; }
  /// False while no further frame should begin; its bytes wait in the reader.
  [[nodiscard]] virtual bool is_ready() const { return true; }
  /// False while this frame should not begin. The question is repeated for the same frame later.
  [[nodiscard]] virtual bool takes(const FrameHeader& /*header*/) { return true; }
  /// Receives more of a payload into `places`, and what follows it into `rest`, as
  /// Channel::receive. A sink whose memory may be freed meanwhile pins it here.
  virtual Result<std::size_t> receive_payload(Channel& channel, std::vector<iovec>& places,
                                              std::size_t next, iovec rest);
  /// The same for the beginning of a payload, which came with earlier bytes: stores `bytes` into
  /// `places`, in order.
  virtual void store_payload(std::span<const iovec> places, std::span<const std::byte> bytes);
};

class FrameReader {
 public:
  static constexpr std::size_t buffer_bytes = std::size_t{16} * 1024;

  /// `pool` lends a buffer of buffer_bytes while the reader needs one, and outlives the reader. If
  /// null, the reader keeps its own buffer.
  FrameReader(Channel& channel, FrameSink& sink, BufferPool* pool = nullptr);
  ~FrameReader();
  FrameReader(const FrameReader&) = delete;
  FrameReader& operator=(const FrameReader&) = delete;

  /// Reads what has come. It stops at a bound, so that one connection does not starve others; when
  /// the sink is not ready; and after a frame for which is_awaited() is true. Returns whether
  /// anything came. Errors: peer_lost, protocol, and the sink's; nothing more is read then.
  Result<bool> advance();

  /// Reads `bytes` before those of the channel: bytes that a handshake received in excess.
  Status begin_with(std::span<const std::byte> bytes);

  /// The last advance() stopped after a frame that a thread may be waiting for; more may have come.
  [[nodiscard]] bool was_awaited() const noexcept { return is_latency_critical_; }

  /// The reader holds a frame for which the sink was not ready: call advance() when it is.
  [[nodiscard]] bool is_held_up() const noexcept { return is_held_up_; }

  /// Continues over another channel. Requires: !is_inside_frame().
  void move_to(Channel& channel) noexcept { channel_ = &channel; }

  /// A frame has been received in part.
  [[nodiscard]] bool is_inside_frame() const noexcept {
    return stage_ != Stage::header || first_ != last_;
  }

 private:
  enum class Stage : std::uint8_t { header, descriptor, payload };

  [[nodiscard]] std::span<const std::byte> buffered() const noexcept {
    return std::span(buffer_).subspan(first_, last_ - first_);
  }
  Status consume();
  Result<bool> take_header();
  Result<bool> take_descriptor();
  Result<bool> take_payload();
  Status begin_payload();
  struct Received {
    std::size_t bytes = 0;
    bool may_be_more = false;  // all offered room was filled
  };
  Result<Received> receive();
  Result<bool> receive_some();
  [[nodiscard]] bool has_buffer() noexcept;
  void give_back() noexcept;
  void fill_payload(std::size_t bytes);

  Channel* channel_;
  FrameSink& sink_;
  BufferPool* const pool_;
  Stage stage_ = Stage::header;
  FrameHeader header_;
  std::vector<std::byte> descriptor_;
  std::vector<iovec> payload_;     // the destinations of its rest, from next_piece_ on
  std::size_t discard_bytes_ = 0;  // bytes of it that still have to come and are discarded
  std::size_t next_piece_ = 0;
  std::vector<std::byte> buffer_;  // empty: no buffer at present
  std::size_t first_ = 0;
  std::size_t last_ = 0;
  bool is_latency_critical_ = false;  // a frame that came since advance() began
  bool is_held_up_ = false;           // the buffer holds a frame for which the sink was not ready
};

}  // namespace tessera::rma::server
