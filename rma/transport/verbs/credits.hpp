// SPDX-License-Identifier: BSD-3-Clause
//
// Credits: flow control of the messages of one connection, so that its two ends share receive
// buffers with all other connections. Decision 63 explains why it can neither deadlock nor lose a
// message.
//
// A credit is a receive buffer that the other end keeps free for one message. The other end grants
// credits from its pool if the sender requests them. A message is one of
//
//     kept          it uses a credit, which the receiver returns after it has read the message
//     last          it uses a credit, whose buffer then returns to the pool
//     uncredited    it has at most max_uncredited_bytes and needs no credit; one at a time is in
//                   flight. If buffers are scarce, the receiver copies it out at once
//     none          it has credit updates only, which the receiver processes at once
//
// So a connection without traffic holds no buffer, and one without credits still sends uncredited
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

enum class CreditUse : std::uint8_t { none, kept, last, uncredited };

/// Credit information in each message, in 32 bits.
struct CreditUpdate {
  CreditUse backing = CreditUse::none;
  std::uint8_t granted = 0;   ///< credits that the receiver of this update gets.
  std::uint8_t returned = 0;  ///< credits that it gets back, because this end does not need them.
  std::uint8_t wanted = 0;    ///< further credits that this end requests, for unsent data.
  bool frees_uncredited = false;  ///< its uncredited message was read.
  bool is_scarce = false;         ///< it should return credits that it does not need.
  bool recalls = false;           ///< it must return all its credits.

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
  [[nodiscard]] bool may_send() const noexcept { return available_ > 0 || may_send_uncredited(); }
  /// If `bytes` are waiting to be sent, how many go in that message. Requires: may_send().
  [[nodiscard]] std::size_t next_bytes(std::size_t bytes) const noexcept;
  /// Accounts for the sent message and returns its CreditUpdate. Requires: may_send(), bytes > 0.
  [[nodiscard]] CreditUpdate spend(std::size_t bytes) noexcept;

  // --- as a receiver
  /// Applies the CreditUpdate of a message that arrived.
  void process_update(const CreditUpdate& update) noexcept;
  /// Numbers of messages that were read, by their kind.
  struct Read {
    std::uint32_t kept = 0;
    std::uint32_t last = 0;
    bool is_uncredited = false;
    void count(CreditUse backing) noexcept;
    [[nodiscard]] bool is_any() const noexcept { return kept > 0 || last > 0 || is_uncredited; }
  };
  void record_read(const Read& read) noexcept;
  /// How many credits to request from the pool for the other end.
  [[nodiscard]] std::uint32_t credits_to_request(bool is_scarce) const noexcept;
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
  [[nodiscard]] bool needs_update() const noexcept;
  /// Adds all unreported changes to `update`, which the next message carries.
  void fill_update(CreditUpdate& update, bool is_scarce) noexcept;

 private:
  [[nodiscard]] bool may_send_uncredited() const noexcept;

  // As a sender.
  std::size_t message_bytes_ = 0;
  std::uint32_t peer_window_ = 0;
  std::uint32_t available_ = 0;
  std::uint32_t in_flight_ = 0;  // kept messages whose credits have not returned; never too many
  std::uint32_t unreported_returns_ = 0;
  bool has_uncredited_ = true;
  bool returns_unused_ = false;

  // As a receiver.
  std::uint32_t window_;
  std::uint32_t granted_ = 0;     // the other end's: unused, in flight or unreported
  std::uint32_t unreported_ = 0;  // of granted_: an update must report them
  std::uint32_t wanted_ = 0;
  std::uint32_t released_ = 0;  // to return to the pool
  bool frees_uncredited_ = false;
  bool recalls_ = false;     // to be reported
  std::uint8_t unused_ = 0;  // calls of recall_unused() since the last message, at most 2
};

}  // namespace tessera::rma::verbs
