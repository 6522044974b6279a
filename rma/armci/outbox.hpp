// SPDX-License-Identifier: BSD-3-Clause
//
// Outbox: the messages that a rank sends; mailbox.hpp explains the protocol.
//
// An outgoing message is in one of three states: it waits, for a slot, for the window or for an
// earlier message to the same receiver; or it is a long one whose parts are being fetched; or it is
// done. Nothing here waits: advance() does what can be done now.
//
// Threads: as the mailbox. Cost: advance() O(outgoing messages) and, while there are any, O(slots
// in use).
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "rma/armci/mailbox.hpp"
#include "rma/armci/mailbox_region.hpp"

namespace tessera::rma::armci::detail {

class Outbox {
 public:
  explicit Outbox(MailboxRegion& region);

  /// Names an outgoing message.
  using Ticket = std::uint64_t;

  /// True if send_short() may be called for a message to that rank.
  bool has_slot_for(WorldRank to);
  /// Sends a short message: copies and announces it.
  Status send_short(std::int32_t tag, std::span<const std::byte> message, WorldRank to);

  /// Requires: `message` stays until it is done.
  Ticket add(std::int32_t tag, std::span<const std::byte> message, WorldRank to);
  /// Sends what can be sent. Returns whether anything was. Errors are kept for take_failure().
  bool advance();

  [[nodiscard]] bool is_done(Ticket ticket) const noexcept { return find(ticket) == nullptr; }
  /// The oldest to that rank, or to any; none if all are done.
  [[nodiscard]] std::optional<Ticket> oldest(std::optional<WorldRank> to) const noexcept;
  /// The rank that has to fetch something before that message can continue. Requires: it is not
  /// done.
  [[nodiscard]] WorldRank awaited(Ticket ticket) const noexcept;
  /// Drops all messages to a rank that is gone; they failed with that error.
  void abandon(WorldRank to, const Status& error);
  /// The error of messages to that rank, or to any; each is returned once.
  Status take_failure(std::optional<WorldRank> to);

 private:
  // A message in a slot of this rank that `to` has not fetched, as far as this rank knows.
  struct Pending {
    WorldRank to;
    std::uint32_t number = 0;
    std::uint32_t slot = 0;
  };
  struct Outgoing {
    Ticket ticket = 0;
    std::int32_t tag = 0;
    std::span<const std::byte> message;
    WorldRank to;
    // Of a long message that has begun.
    bool has_begun = false;
    Announcement head = {};
    std::uint32_t before = 0;  // the number before that of the first part
    std::uint64_t filled = 0;  // parts
    std::uint64_t taken = 0;
  };

  [[nodiscard]] const Outgoing* find(Ticket ticket) const noexcept;
  [[nodiscard]] const Outgoing* first_to(WorldRank to) const noexcept;
  Result<bool> advance(Outgoing& each);
  Status begin_long(Outgoing& each);
  Result<bool> advance_parts(Outgoing& each);
  Status fill_parts(Outgoing& each);

  std::uint32_t take_slot() noexcept;
  std::uint32_t fill_slot(std::uint32_t slot, WorldRank to, std::int32_t tag,
                          std::span<const std::byte> message, std::size_t bytes_in_slot);
  Status announce(WorldRank to, Announcement announcement);
  void collect_slots();
  void release_slots_of(WorldRank rank);

  [[nodiscard]] std::int32_t& sent(WorldRank rank) noexcept {
    return sent_[static_cast<std::size_t>(rank.value)];
  }

  MailboxRegion& region_;
  std::vector<std::int32_t> sent_;  ///< by receiver: the last announcement
  std::vector<std::uint32_t> free_slots_;
  std::vector<Pending> pending_;  ///< oldest first
  std::list<Outgoing> outgoing_;  ///< oldest first
  Ticket last_ticket_ = 0;
  std::optional<WorldRank> window_user_;     ///< the receiver of the long message that has begun
  std::map<std::int32_t, Status> failures_;  ///< by receiver
};

/// The other rank died or left, or its node is unreachable: its slice can't be read, and nothing
/// will arrive.
inline bool is_rank_loss(const Status& status) {
  return status.code() == Code::peer_lost || status.code() == Code::unreachable ||
         status.code() == Code::closed;
}

inline bool is_short(std::uint64_t bytes) {
  return bytes <= short_message_bytes;
}

inline std::uint64_t parts_of(std::uint64_t bytes) {
  return bytes / part_bytes + (bytes % part_bytes != 0 ? 1 : 0);
}

/// The bytes of a part; the last part may be shorter.
template <class Byte>
std::span<Byte> part_of(std::span<Byte> bytes, std::uint64_t part) {
  const std::size_t from = std::min<std::size_t>(part * part_bytes, bytes.size());
  return bytes.subspan(from, std::min(part_bytes, bytes.size() - from));
}

/// The units of a slot that a header and a number of bytes use.
inline std::uint32_t units_of(std::size_t bytes_in_slot) {
  return static_cast<std::uint32_t>((sizeof(SlotHeader) + bytes_in_slot + slot_unit_bytes - 1) /
                                    slot_unit_bytes);
}

}  // namespace tessera::rma::armci::detail
