// SPDX-License-Identifier: BSD-3-Clause
//
// Credits: flow control of the messages of one path, so that its two ends share receive buffers
// with all other paths. Decision 63 says why it can neither deadlock nor lose a message.
//
// A credit is a receive buffer that the other end keeps free for one message. It grants credits out
// of its pool when the sender wants some:
//
//     kept     the receiver gives the credit back when it has read the message
//     last     it doesn't: the buffer returns to the pool
//     brief    a message of at most brief_bytes that needs no credit; one at a time for each path.
//              Where buffers are scarce the receiver copies it out at once
//     none     only news about credits; the receiver takes it at once
//
// So a path without traffic holds no buffer, and one that got no credit still moves brief messages.
// A sender keeps unused credits unless the receiver says that buffers are scarce, or recalls them.
//
// Both directions count apart. What one end has to tell the other is a Slip, which travels with
// each message.
//
// Threads: none of its own; the path has a lock.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::rma::verbs {

/// Of a message that needs no credit.
inline constexpr std::size_t brief_bytes = 512;
/// Of one peer.
inline constexpr std::uint32_t max_window = 255;

enum class Backing : std::uint8_t { none, kept, last, brief };

/// What goes with each message, in 32 bits.
struct Slip {
  Backing backing = Backing::none;
  std::uint8_t granted = 0;   ///< credits for the other end
  std::uint8_t returned = 0;  ///< of its credits, which this end doesn't need
  std::uint8_t wanted = 0;    ///< more of its credits, for what is to be sent now
  bool frees_brief = false;   ///< the other end's brief message was read
  bool is_scarce = false;     ///< the other end should return what it doesn't need
  bool recalls = false;       ///< the other end shall return all credits that it has

  [[nodiscard]] std::uint32_t encode() const noexcept;
  static Slip decode(std::uint32_t word) noexcept;
  friend bool operator==(const Slip&, const Slip&) = default;
};

class Credits {
 public:
  /// `window`: credits that the other end may hold at most.
  explicit Credits(std::uint32_t window) noexcept : window_(window) {}

  /// The other end's terms: `credits` to begin with, `window` at most, `message_bytes` a message.
  void begin(std::uint32_t credits, std::uint32_t window, std::size_t message_bytes) noexcept;

  /// The other end has all of this end's window from the beginning, and keeps it.
  void reserve(std::uint32_t window) noexcept { granted_ = window; }

  // --- as a sender
  /// Whether a message may go now.
  [[nodiscard]] bool may_send() const noexcept { return in_hand_ > 0 || may_send_brief(); }
  /// Of `bytes` that wait to be sent, how many go in that. Requires: may_send().
  [[nodiscard]] std::size_t next_bytes(std::size_t bytes) const noexcept;
  /// It goes; what goes with it. Requires: may_send(), bytes > 0.
  [[nodiscard]] Slip spend(std::size_t bytes) noexcept;

  // --- as a receiver
  /// What came with a message.
  void take(const Slip& slip) noexcept;
  /// Messages that were read, by their backing.
  struct Read {
    std::uint32_t kept = 0;
    std::uint32_t last = 0;
    bool is_brief = false;
    void count(Backing backing) noexcept;
    [[nodiscard]] bool is_any() const noexcept { return kept > 0 || last > 0 || is_brief; }
  };
  void note_read(const Read& read) noexcept;
  /// Credits to ask the pool for.
  [[nodiscard]] std::uint32_t wish(bool is_scarce) const noexcept;
  /// The pool gave as many.
  void grant(std::uint32_t count) noexcept;
  /// Credits to give back to the pool, once.
  [[nodiscard]] std::uint32_t take_released() noexcept;
  /// All that the other end holds, when the path ends.
  [[nodiscard]] std::uint32_t granted() const noexcept { return granted_; }
  /// To be called now and then. Asks for all credits that the other end has, once, if it has used
  /// none between two calls.
  void recall_unused() noexcept;

  // --- both
  /// Whether the other end has to hear soon, in a message of its own if need be.
  [[nodiscard]] bool has_news() const noexcept;
  /// Adds the news to `slip`.
  void tell(Slip& slip, bool is_scarce) noexcept;

 private:
  [[nodiscard]] bool may_send_brief() const noexcept;

  // As a sender.
  std::size_t message_bytes_ = 0;
  std::uint32_t their_window_ = 0;
  std::uint32_t in_hand_ = 0;
  std::uint32_t under_way_ = 0;  // kept messages whose credits didn't come back, at most
  std::uint32_t returns_ = 0;    // to be told
  bool has_brief_ = true;
  bool is_sparing_ = false;

  // As a receiver.
  std::uint32_t window_;
  std::uint32_t granted_ = 0;  // the other end's, whether in its hand, under way or owed
  std::uint32_t owed_ = 0;     // of these, to be told
  std::uint32_t wanted_ = 0;
  std::uint32_t released_ = 0;  // to the pool
  bool owes_brief_ = false;
  bool recalls_ = false;     // to be told
  std::uint8_t unused_ = 0;  // calls of recall_unused() since the last message, at most 2
};

}  // namespace tessera::rma::verbs
