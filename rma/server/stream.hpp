// SPDX-License-Identifier: BSD-3-Clause
//
// Frames over a channel that never waits: FrameWriter keeps what there was no room for, FrameReader
// takes frames apart as their bytes come and puts payloads where they belong.
//
// Large payloads go straight between the channel and the memory that they come from or go to
// (gathered send, scattered receive). Copied on the way are at most the reader's buffer, and frames
// of up to 16 KiB that may wait for others: together they cost one call of the system.
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
#include "rma/server/buffer_pool.hpp"
#include "rma/server/wire.hpp"

namespace tessera::rma::server {

using detail::Channel;

class FrameWriter {
 public:
  explicit FrameWriter(Channel& channel) noexcept : channel_(&channel) {}
  /// Ends what is still kept with peer_lost.
  ~FrameWriter();
  FrameWriter(const FrameWriter&) = delete;
  FrameWriter& operator=(const FrameWriter&) = delete;

  /// Whether a frame goes at once; or may wait for more that go with it: many small frames cost
  /// little more than one then; or is kept, as if there was no room for it: until flush(), which
  /// sends what is kept together; or, if it has a body of others, until somebody else calls
  /// flush(), for it is long. Who doesn't say `now` sees to it that somebody calls flush().
  enum class When : std::uint8_t { now, soon, together, later };

  /// Sends as much as there is room for behind what is kept, and keeps the rest. `head` is copied
  /// where need be; the memory of `body` must live until `sent` ends, once, when all is taken.
  /// Errors: peer_lost; no_memory for the rest of a frame, behind which nothing more can be sent;
  /// `sent` does not end then. Throws std::bad_alloc, and has taken nothing then.
  Status post(std::span<const std::byte> head, std::span<const iovec> body, Completion* sent,
              When when = When::now);
  /// The same with a body that the writer keeps.
  Status post(std::span<const std::byte> head, std::vector<std::byte> body, When when = When::now);
  /// The same with a body of which the writer copies what there is no room for. So `sent` has ended
  /// at return, unless there was no memory for the copy.
  Status post_copy(std::span<const std::byte> head, std::span<const std::byte> body,
                   Completion& sent, When when = When::now);

  /// Gives a batch's memory back when there was none since the last call.
  void look() noexcept;

  /// Sends more of what is kept. Errors: peer_lost, and no_memory as above; fail() is the caller's
  /// to call. Throws nothing.
  Status flush();

  /// Among what is kept is a frame that somebody else is to send (When::later).
  [[nodiscard]] bool is_left() const noexcept { return is_left_; }

  /// It ends in the middle of a frame: nothing more can be sent.
  [[nodiscard]] bool is_cut() const noexcept { return is_cut_; }

  /// Ends all that is kept with `reason`.
  void fail(const Status& reason);

  /// Goes on over another channel. Requires: is_empty().
  void move_to(Channel& channel) noexcept { channel_ = &channel; }

  [[nodiscard]] bool is_empty() const noexcept {
    return kept_.empty() && batch_.empty() && !is_cut_;
  }
  /// There was no room for all that was to go.
  [[nodiscard]] bool is_held_up() const noexcept { return !kept_.empty(); }
  [[nodiscard]] std::size_t kept_bytes() const noexcept { return kept_bytes_ + batch_.size(); }
  /// The memory that this takes: bodies of others that are sent from where they lie are no part.
  [[nodiscard]] std::size_t own_bytes() const noexcept { return own_bytes_ + batch_.size(); }

 private:
  struct Kept {
    std::vector<std::byte> head;  // then the pieces
    std::vector<std::byte> body;  // what the last piece points to, if it is the writer's own
    std::vector<iovec> pieces;
    std::size_t next = 0;  // piece
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
  bool is_left_ = false;
  bool is_cut_ = false;  // in the middle of a frame, for good: there was no memory for its rest
  std::vector<std::byte> batch_;  // copies of frames that go together; empty while anything is kept
  bool has_batched_ = false;      // since look()
};

/// Who the frames are for.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  /// A header and descriptor have come: fills `into` with where the payload goes, in order and as
  /// many bytes as it has; or leaves it empty, and the payload is thrown away. It is wise to
  /// reserve one place more. An error ends the conversation.
  virtual Status begin(const FrameHeader& header, std::span<const std::byte> descriptor,
                       std::vector<iovec>& into) = 0;
  /// The frame's payload is in its place.
  virtual Status end(const FrameHeader& header) = 0;
  /// All that has come was taken apart. An error ends the conversation.
  virtual Status caught_up() { return {}; }

  /// Somebody may be waiting for just this frame, and should not wait for those behind it, too.
  [[nodiscard]] virtual bool is_awaited(const FrameHeader& /*header*/) const { return false; }
  /// False while no other frame should begin; what has come of it waits in the reader.
  [[nodiscard]] virtual bool is_ready() const { return true; }
  /// False while just this one shouldn't. It is asked about the same frame again.
  [[nodiscard]] virtual bool takes(const FrameHeader& /*header*/) { return true; }
  /// Receives more of a payload into `places`, and of what follows it into `rest`, as
  /// Channel::receive. A sink whose places may go away while it waits looks after them here.
  virtual Result<std::size_t> receive_payload(Channel& channel, std::vector<iovec>& places,
                                              std::size_t next, iovec rest);
  /// The same for the beginning of a payload, which came with what was before: `bytes` go to the
  /// first of `places`, in order.
  virtual void store_payload(std::span<const iovec> places, std::span<const std::byte> bytes);
};

class FrameReader {
 public:
  static constexpr std::size_t buffer_bytes = std::size_t{16} * 1024;

  /// `pool`: of buffers of buffer_bytes, which outlives the reader and gives it one while it needs
  /// one; null: the reader has its own all the time.
  FrameReader(Channel& channel, FrameSink& sink, BufferPool* pool = nullptr);
  ~FrameReader();
  FrameReader(const FrameReader&) = delete;
  FrameReader& operator=(const FrameReader&) = delete;

  /// Takes what has come: up to a bound, so that one conversation doesn't starve others, while the
  /// sink is ready, and until a frame that is awaited has come. Returns whether anything was there.
  /// Errors: peer_lost, protocol, and the sink's: nothing more is read.
  Result<bool> advance();

  /// Reads what `bytes` hold before what the channel has: bytes that a handshake read too many.
  Status begin_with(std::span<const std::byte> bytes);

  /// The last advance() ended with a frame that is awaited, and there may be more.
  [[nodiscard]] bool was_awaited() const noexcept { return is_awaited_; }

  /// A frame lies here for which the sink was not ready: advance() is to be called when it is.
  [[nodiscard]] bool is_held_up() const noexcept { return is_held_up_; }

  /// Goes on over another channel. Requires: !is_inside_frame().
  void move_to(Channel& channel) noexcept { channel_ = &channel; }

  /// Bytes of a frame have come, and others of it have not.
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
    bool may_be_more = false;  // all room that was offered is used
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
  std::vector<iovec> payload_;   // what is still to come, from next_piece_ on
  std::size_t thrown_away_ = 0;  // bytes of it that are to come, and go nowhere
  std::size_t next_piece_ = 0;
  std::vector<std::byte> buffer_;  // empty: it has none at present
  std::size_t first_ = 0;
  std::size_t last_ = 0;
  bool is_awaited_ = false;  // a frame that has come since advance() began
  bool is_held_up_ = false;  // a frame lies in the buffer, for which the sink was not ready
};

}  // namespace tessera::rma::server
