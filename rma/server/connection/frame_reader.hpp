// SPDX-License-Identifier: BSD-3-Clause
//
// FrameReader: splits the bytes that arrive on a channel into frames and stores payloads at their
// destinations. A payload that came together with its header stays in the reader's buffer until the
// frame was processed. Other payloads are received directly into their destination (scattered
// receive), except the part that came with earlier bytes.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rma/base/result.hpp"
#include "rma/server/connection/buffer_pool.hpp"
#include "rma/server/wire/wire.hpp"
#include "rma/transport/channel.hpp"

namespace tessera::rma::server {

using detail::Channel;

/// The receiver of the frames.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  /// A header and descriptor have come. `payload`: the whole payload, valid until end(), if it has
  /// come already; else empty. Fills `into` with the destinations of the payload, in order and
  /// exactly as long as it; if `into` stays empty, the payload is discarded. Reserve one element
  /// more than needed. An error ends the connection.
  virtual Status begin(const FrameHeader& header, std::span<const std::byte> descriptor,
                       std::span<const std::byte> payload, std::vector<iovec>& into) = 0;
  /// The frame's payload is at its destination.
  virtual Status end(const FrameHeader& header) = 0;
  /// Everything that has come was processed. An error ends the connection.
  virtual Status caught_up() { return {}; }

  /// True if a thread may be waiting for this very frame and should not also wait for the frames
  /// after it.
  [[nodiscard]] virtual bool is_latency_critical(const FrameHeader& /*header*/) const {
    return false;
  }
  /// False while this frame should not begin; it waits in the reader. The question is repeated for
  /// the same frame later.
  [[nodiscard]] virtual bool takes(const FrameHeader& /*header*/) { return true; }
  /// Receives more of a payload into `destinations`, and what follows it into `rest`, as
  /// Channel::receive. A sink whose memory may be freed meanwhile pins it here.
  virtual Result<std::size_t> receive_payload(Channel& channel, std::vector<iovec>& destinations,
                                              std::size_t next, iovec rest);
  /// The same for the beginning of a payload, which came with earlier bytes: stores `bytes` into
  /// `destinations`, in order.
  virtual void store_payload(std::span<const iovec> destinations, std::span<const std::byte> bytes);
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
  /// the sink does not take a frame; and after a frame for which is_latency_critical() is true.
  /// Returns whether anything came. Errors: peer_lost, protocol, and the sink's; nothing more is
  /// read then.
  Result<bool> advance();

  /// Reads `bytes` before those of the channel: bytes that a handshake received in excess.
  Status begin_with(std::span<const std::byte> bytes);

  /// The last advance() stopped after a frame that a thread may be waiting for; more may have come.
  [[nodiscard]] bool was_latency_critical() const noexcept { return is_latency_critical_; }

  /// The reader holds a frame that the sink did not take: call advance() when it does.
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
  [[nodiscard]] bool take_payload();
  struct Received {
    std::size_t bytes = 0;
    bool may_be_more = false;  // all offered room was filled
  };
  Result<Received> receive();
  [[nodiscard]] bool has_buffer() noexcept;
  void give_back() noexcept;

  Channel* channel_;
  FrameSink& sink_;
  BufferPool* const pool_;
  Stage stage_ = Stage::header;
  FrameHeader header_;
  std::vector<std::byte> descriptor_;  // its beginning, if it came in parts
  std::vector<iovec> payload_;         // the destinations of its rest, from next_piece_ on
  std::size_t discard_bytes_ = 0;      // bytes of it that still have to come and are discarded
  std::size_t next_piece_ = 0;
  std::vector<std::byte> buffer_;  // empty: no buffer at present
  std::size_t first_ = 0;
  std::size_t last_ = 0;
  bool is_latency_critical_ = false;  // a frame that came since advance() began
  bool is_held_up_ = false;           // the buffer holds a frame that the sink did not take
};

}  // namespace tessera::rma::server
