// SPDX-License-Identifier: BSD-3-Clause
//
// Mailbox: two-sided messages between the ranks of a job, made of one-sided operations (ARMCI's
// armci_msg_snd and armci_msg_rcv).
//
// Messages from one rank to another with one tag are received in the order in which they were sent.
// A receive takes the oldest message that matches; others wait, as many as memory holds.
//
// How it works. Each rank has a slice of one region:
//
//     bell          a word that whoever did something for this rank changes: it sleeps on that
//     announced[r]  the last message from rank r: its number, its slot at r, how much to get of it
//     taken[r]      the number of the last message that rank r has taken from here
//     slots         64 of 4 KiB: messages of this rank that their receivers have not taken yet
//     parts         4 of 128 KiB: the window over the long message that this rank is sending
//
// A sender fills a slot, raises announced[sender] at the receiver, and rings its bell. The receiver
// gets the slot, raises taken[receiver] at the sender, and rings. A slot names the announcement
// before it, so that none is missed where several came since the last look. A *short* message, of
// up to short_message_bytes, is taken to the receiver's heap, and its slot is free again, when that
// rank is next in any receive or in a send that waits. So ranks may all send first and receive
// then: even who waits for a free slot takes in what comes meanwhile. Of a *long* message only the
// slot is taken in; when it is received its parts go straight to the receiver's buffer, while the
// sender, who is in send() until the last one is taken, refills those that were. Messages to
// oneself are copied to the heap, whatever their length.
//
// Cost: a short message is a copy, 2 flags, a get, 2 flags; each part of a long one the same. All
// flags are one-way. Memory of a process: 0.8 MiB and 16 bytes a rank. A wake-up looks at one word
// of each rank. A receive looks at the waiting messages of its tag.
// Death: who waits for a rank that is gone gets peer_lost within about TESSERA_LIVENESS_MS; where
// its node is gone as well, at once also closed (it left) or unreachable. A short message to such a
// rank is lost silently where nobody had to wait.
// Threads: one thread at a time may use a mailbox.
// Ownership: move-only; keeps its job; the destructor frees, collectively.
// Limits today: 2^24 ranks. Parts are got one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "rma/job.hpp"
#include "rma/rank.hpp"
#include "rma/result.hpp"

namespace tessera::rma::armci {

namespace detail {
class MailboxState;
}

/// Messages of up to this many bytes are buffered.
inline constexpr std::size_t short_message_bytes = 4096;
/// So many short messages of a rank may be on their way before send() waits until one is taken.
inline constexpr std::int32_t messages_on_their_way = 64;

/// What was received.
struct Received {
  std::size_t bytes = 0;
  WorldRank from;
};

class Mailbox {
 public:
  /// No mailbox; only assignment and destruction are allowed.
  Mailbox() noexcept;
  Mailbox(Mailbox&&) noexcept;
  Mailbox& operator=(Mailbox&& other) noexcept;
  ~Mailbox();

  /// Collective over all ranks. Errors: as Region::allocate; limit_exceeded (too many ranks).
  static Result<Mailbox> create(Job& job);

  /// Collective. Messages that nobody received are dropped. Idempotent. Errors: peer_lost.
  Status free();

  /// Sends a message. Complete: at return `message` may be reused. A short one is buffered unless
  /// messages_on_their_way are; a long one waits until it is received.
  /// Errors: invalid_argument (no such rank, a null message), closed, no_memory (to oneself),
  /// peer_lost (it waited for `to`).
  Status send(std::int32_t tag, std::span<const std::byte> message, WorldRank to);

  /// Waits for the oldest message with that tag from that rank, and copies it to `buffer`.
  /// Errors: invalid_argument (no such rank; a message longer than `buffer`, which then holds the
  /// bytes that fit: it counts as received; a message from oneself that wasn't sent), closed,
  /// no_memory, peer_lost (the rank is gone, and so is its message if there was one).
  Result<Received> receive(std::int32_t tag, std::span<std::byte> buffer, WorldRank from);

  /// The same from any rank. Errors: peer_lost only when all other ranks are gone, or the message
  /// is with its sender.
  Result<Received> receive_any(std::int32_t tag, std::span<std::byte> buffer);

 private:
  explicit Mailbox(std::unique_ptr<detail::MailboxState> state) noexcept;
  std::unique_ptr<detail::MailboxState> state_;
};

}  // namespace tessera::rma::armci
