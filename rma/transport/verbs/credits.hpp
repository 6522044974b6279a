// SPDX-License-Identifier: BSD-3-Clause
//
// Credits: flow control of the messages of one connection, so that its two ends share receive
// buffers with all other connections. Decision 63 explains why it can neither deadlock nor lose a
// message.
//
// A credit is a receive buffer that the other end keeps free for one message. The other end grants
// credits from its pool when the sender requests them:
//
//     kept     the receiver returns the credit when it has read the message
//     last     it does not: the buffer returns to the pool
//     brief    a message of at most max_uncredited_bytes that needs no credit; one at a time on
//     each
//              connection. If buffers are scarce the receiver copies it out at once
//     none     only credit updates; the receiver processes it at once
//
// So a connection without traffic holds no buffer, and one without credits still moves brief
// messages. A sender keeps unused credits unless the receiver reports that buffers are scarce, or
// recalls them.
//
// The two directions are counted separately. A CreditUpdate carries the changes from one end to the
// other with each message.
//
// Threads: none of its own; the connection has a lock.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::rma::verbs {

/// Largest message that needs no credit.
inline constexpr std::size_t max_uncredited_bytes = 512;
/// Most credits of one peer.
inline constexpr std::uint32_t max_window = 255;

enum class CreditUse : std::uint8_t { none, kept, last, brief };

/// Credit information in each message, in 32 bits.
struct CreditUpdate {
  CreditUse backing = CreditUse::none;
  std::uint8_t granted = 0;       ///< credits for the other end;
  std::uint8_t returned = 0;      ///< of its credits, which this end does not need;
  std::uint8_t wanted = 0;        ///< further credits for data that is waiting to be sent;
  bool frees_uncredited = false;  ///< the other end's brief message was read;
  bool is_scarce = false;         ///< the other end should return credits that it does not need;
  bool recalls = false;           ///< the other end shall return all credits that it has

  [[nodiscard]] std::uint32_t encode() const noexcept;
  static CreditUpdate decode(std::uint32_t word) noexcept;
  friend bool operator==(const CreditUpdate&, const CreditUpdate&) = default;
};

class Credits {
 public:
  /// `window`: most credits that the other end may hold.
  explicit Credits(std::uint32_t window) noexcept : window_(window) {}

  /// The other end's terms: `credits` to begin with, `window` at most, `message_bytes` a message.
  void begin(std::uint32_t credits, std::uint32_t window, std::size_t message_bytes) noexcept;

  /// Grants the other end all of this end's window from the beginning, for good.
  void reserve(std::uint32_t window) noexcept { granted_ = window; }

  // --- as a sender
  /// Whether a message may go now.
  [[nodiscard]] bool may_send() const noexcept { return available_ > 0 || may_send_brief(); }
  /// If `bytes` are waiting to be sent, how many go in that message. Requires: may_send().
  [[nodiscard]] std::size_t next_bytes(std::size_t bytes) const noexcept;
  /// Accounts for the sent message and returns its CreditUpdate. Requires: may_send(), bytes > 0.
  [[nodiscard]] CreditUpdate spend(std::size_t bytes) noexcept;

  // --- as a receiver
  /// Processes the CreditUpdate of a message that arrived.
  void take(const CreditUpdate& update) noexcept;
  /// Counts of messages that were read, by their backing.
  struct Read {
    std::uint32_t kept = 0;
    std::uint32_t last = 0;
    bool is_brief = false;
    void count(CreditUse backing) noexcept;
    [[nodiscard]] bool is_any() const noexcept { return kept > 0 || last > 0 || is_brief; }
  };
  void note_read(const Read& read) noexcept;
  /// Credits to request from the pool.
  [[nodiscard]] std::uint32_t wish(bool is_scarce) const noexcept;
  /// Records that the pool gave that many.
  void grant(std::uint32_t count) noexcept;
  /// Credits to return to the pool; the next call returns 0.
  [[nodiscard]] std::uint32_t take_released() noexcept;
  /// All credits that the other end holds; used when the connection closes.
  [[nodiscard]] std::uint32_t granted() const noexcept { return granted_; }
  /// Called periodically. Recalls all credits of the other end, once, if it has used none between
  /// two calls.
  void recall_unused() noexcept;

  // --- both
  /// Whether the other end needs an update soon, if necessary in a message of its own.
  [[nodiscard]] bool has_news() const noexcept;
  /// Adds what the other end must know to `update`.
  void tell(CreditUpdate& update, bool is_scarce) noexcept;

 private:
  [[nodiscard]] bool may_send_brief() const noexcept;

  // As a sender.
  std::size_t message_bytes_ = 0;
  std::uint32_t peer_window_ = 0;
  std::uint32_t available_ = 0;
  std::uint32_t under_way_ = 0;  // kept messages whose credits have not come back, at most
  std::uint32_t returns_ = 0;    // to be reported
  bool has_uncredited_ = true;
  bool returns_unused_ = false;

  // As a receiver.
  std::uint32_t window_;
  std::uint32_t granted_ = 0;  // the other end's: available, under way or owed
  std::uint32_t owed_ = 0;     // of these, not yet reported
  std::uint32_t wanted_ = 0;
  std::uint32_t released_ = 0;  // to return to the pool
  bool owes_uncredited_ = false;
  bool recalls_ = false;     // to be reported
  std::uint8_t unused_ = 0;  // calls of recall_unused() since the last message, at most 2
};

}  // namespace tessera::rma::verbs
