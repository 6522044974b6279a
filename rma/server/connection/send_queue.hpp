// SPDX-License-Identifier: BSD-3-Clause
//
// SendQueue: the frames that wait to be sent over a channel that never blocks. It decides which
// frames share a call of the channel, and keeps the bytes that the channel had no room for.
//
// Long payloads are sent from user memory (gathered send). Frames of up to 16 KiB that may wait for
// others are copied; several of those then cost one system call.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include "rma/base/result.hpp"
#include "rma/transport/channel.hpp"
#include "rma/transport/completion.hpp"

namespace tessera::rma::server {

using detail::Channel;

class SendQueue {
 public:
  explicit SendQueue(Channel& channel) noexcept : channel_(&channel) {}
  /// Ends the frames that are still kept with peer_lost.
  ~SendQueue();
  SendQueue(const SendQueue&) = delete;
  SendQueue& operator=(const SendQueue&) = delete;

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

  /// A frame: a head and the pieces of its body.
  struct Frame {
    std::span<const std::byte> head = {};  ///< is copied if necessary
    /// Its memory must stay valid until `sent` ends, which happens once, when all bytes are taken.
    std::span<const iovec> body = {};
    Completion* sent = nullptr;
    std::vector<std::byte>* owned = nullptr;  ///< the memory of `body`, if the queue takes it over
    /// The unsent part of the body is copied. So `sent` has ended at return, unless there was no
    /// memory for the copy.
    bool is_body_copied = false;
  };
  /// Sends as many bytes as there is room for, after those that are kept, and keeps the rest.
  /// Errors: peer_lost; `sent` does not end then. Throws std::bad_alloc; nothing was taken then.
  Status append(const Frame& frame, When when);
  Status post(std::span<const std::byte> head, std::span<const iovec> body, Completion* sent,
              When when = When::now) {
    return append({.head = head, .body = body, .sent = sent}, when);
  }
  /// The same with a body that the queue owns.
  Status post(std::span<const std::byte> head, std::vector<std::byte> body, When when = When::now) {
    const iovec piece{body.data(), body.size()};
    return append({.head = head, .body = std::span(&piece, 1), .owned = &body}, when);
  }

  /// Sends more of the kept bytes. Errors: peer_lost; the caller then has to call fail(). Allocates
  /// nothing.
  Status flush();
  /// Ends all kept frames with `reason`.
  void fail(const Status& reason);
  /// Continues over another channel. Requires: is_empty().
  void move_to(Channel& channel) noexcept { channel_ = &channel; }
  /// Frees the batch's memory if there was no batch since the last call.
  void release_unused() noexcept;

  /// A kept frame is left for another thread to send (When::later).
  [[nodiscard]] bool has_deferred() const noexcept { return has_deferred_; }
  [[nodiscard]] bool is_empty() const noexcept { return kept_.empty() && batch_.empty(); }
  /// The channel had no room for everything.
  [[nodiscard]] bool is_held_up() const noexcept { return !kept_.empty(); }
  [[nodiscard]] std::size_t kept_bytes() const noexcept { return kept_bytes_ + batch_.size(); }
  /// The memory that the queue itself uses: without bodies that are sent from the caller's memory.
  [[nodiscard]] std::size_t own_bytes() const noexcept { return own_bytes_ + batch_.size(); }

 private:
  struct Kept {
    std::vector<std::byte> head;  // followed by the pieces
    std::vector<std::byte> body;  // the memory of the last piece, if the queue owns it
    std::vector<iovec> pieces;
    std::size_t next = 0;  // the next piece to send
    Completion* sent = nullptr;
    [[nodiscard]] std::size_t own_bytes() const noexcept {
      return sizeof(Kept) + head.size() + body.size() + pieces.size() * sizeof(iovec);
    }
  };

  Status send_batch();
  Status add_to_batch(const Frame& frame, std::size_t bytes, When when);
  void make_spare(std::size_t head_bytes, std::size_t pieces);
  void keep_spare(std::size_t taken) noexcept;
  void keep_batch(std::size_t taken) noexcept;
  void keep_rest(const Frame& frame, std::size_t taken, When when);
  Result<std::size_t> send_kept();
  void advance(std::size_t taken);

  Channel* channel_;
  std::list<Kept> kept_;
  std::size_t kept_bytes_ = 0;
  std::size_t own_bytes_ = 0;
  bool has_deferred_ = false;
  // Copies of frames that are sent together; empty while anything is kept.
  std::vector<std::byte> batch_;
  // One unused record or none: made before anything is batched or sent, so that what remains can
  // always be kept.
  std::list<Kept> spare_;
  bool has_batched_ = false;  // since release_unused()
};

}  // namespace tessera::rma::server
