// SPDX-License-Identifier: BSD-3-Clause
//
// Mailbox: two-sided messages between the ranks of a job, built on one-sided operations (ARMCI's
// armci_msg_snd and armci_msg_rcv).
//
// Messages from one rank to another with one tag are received in the order in which they were sent.
// A receive takes the oldest message that matches. Other messages wait, as many as memory holds.
//
// Protocol. Each rank has a slice of one region:
//
//     bell          a word that other ranks change after they wrote here; this rank waits on it
//     announced[r]  the last message from rank r: its number, its slot at r, its size in the slot
//     taken[r]      the number of the last message that rank r has fetched from this rank
//     slots         64 of 4 KiB: messages of this rank that their receivers have not yet fetched
//     parts         4 of 128 KiB: the window over the long message that this rank is sending
//
// A sender fills a slot, writes announced[sender] at the receiver, and changes its bell. The
// receiver gets the slot, writes taken[receiver] at the sender, and changes its bell. A slot names
// the announcement before it, so that the receiver misses none if several arrived since it last
// polled.
//
// A *short* message has up to short_message_bytes. A rank fetches it to its heap, which frees the
// slot, in its next receive or in a send that waits. So all ranks may send first and receive
// afterwards: a rank that waits for a free slot fetches incoming messages meanwhile. Of a *long*
// message a rank fetches only the slot. When the message is received, its parts go directly to the
// receiver's buffer. The sender stays in send() until the last part is fetched, and refills the
// parts that were fetched. send_async() does not stay: the parts are refilled during later calls.
// One long message at a time uses the parts; the next one waits. A message to the sending rank
// itself is copied to the heap, whatever its length.
//
// Cost: a short message is a copy, 2 flags, a get, 2 flags; each part of a long one the same. All
// flags are one-way. Memory of a process: 0.8 MiB and 16 bytes a rank. A wake-up reads one word of
// each rank. A receive searches the waiting messages of its tag.
// Lost ranks: a call that waits for a rank that is gone returns peer_lost within about
// TESSERA_TUNE=liveness_ms. If its node is gone as well, the call may also return closed (the rank
// left) or unreachable at once. A short message to such a rank is lost without an error if no call
// had to wait. Threads: one thread at a time may use a mailbox. Ownership: move-only; keeps its
// job; the destructor frees, collectively. Limits today: 2^24 ranks. Parts are fetched one after
// the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"
#include "rma/job.hpp"

namespace tessera::rma::armci {

namespace detail {
class MailboxState;
}

/// Messages of up to this many bytes are buffered.
inline constexpr std::size_t short_message_bytes = 4096;
/// A rank may have this many short messages under way before send() waits until one is fetched.
inline constexpr std::int32_t max_short_messages = 64;

/// What was received.
struct Received {
  std::size_t bytes = 0;
  WorldRank from;
};

class Mailbox {
 public:
  /// An empty mailbox: only assignment and destruction are allowed.
  Mailbox() noexcept;
  Mailbox(Mailbox&&) noexcept;
  Mailbox& operator=(Mailbox&& other) noexcept;
  ~Mailbox();

  /// Collective over all ranks. Errors: as Region::allocate; limit_exceeded (too many ranks).
  static Result<Mailbox> create(Job& job);

  /// Collective. Drops messages that were not received. Idempotent. Errors: peer_lost.
  Status free();

  /// Sends a message. Complete: at return `message` may be reused. Buffers a short message, unless
  /// max_short_messages are under way already; waits until a long one is received.
  /// Errors: invalid_argument (no such rank, a null message), closed, no_memory (a message to this
  /// rank), peer_lost (it waited for `to`).
  Status send(std::int32_t tag, std::span<const std::byte> message, WorldRank to);

  /// Starts sending a message: returns at once. A short message for which there is a slot is sent,
  /// as by send(). Others are sent during later calls of this mailbox, in order with messages to
  /// the same rank. Complete: after wait_sent(to), `message` may be reused. Errors: as send(), and
  /// those of earlier messages to that rank.
  Status send_async(std::int32_t tag, std::span<const std::byte> message, WorldRank to);

  /// Waits until all messages to that rank are sent: buffered, or if they are long, received.
  /// Errors: peer_lost.
  Status wait_sent(WorldRank to);
  /// The same for messages to all ranks.
  Status wait_all_sent();

  /// Local. The size and the sender of the message that receive() would return without waiting for
  /// its sender to call send(); none if there is none. Errors: invalid_argument, closed, no_memory.
  Result<std::optional<Received>> probe(std::int32_t tag, WorldRank from);
  Result<std::optional<Received>> probe_any(std::int32_t tag);

  /// Waits for the oldest message with that tag from that rank, and copies it to `buffer`.
  /// Errors: invalid_argument (no such rank; a message longer than `buffer`, which then holds the
  /// bytes that fit, and the message counts as received; a message from this rank that it has not
  /// sent), closed, no_memory, peer_lost (the rank is gone, and so is its message if there was
  /// one).
  Result<Received> receive(std::int32_t tag, std::span<std::byte> buffer, WorldRank from);

  /// The same from any rank. Errors: peer_lost only if all other ranks are gone, or if the message
  /// was lost with its sender.
  Result<Received> receive_any(std::int32_t tag, std::span<std::byte> buffer);

 private:
  explicit Mailbox(std::unique_ptr<detail::MailboxState> state) noexcept;
  std::unique_ptr<detail::MailboxState> state_;
};

}  // namespace tessera::rma::armci
