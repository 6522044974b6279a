// SPDX-License-Identifier: BSD-3-Clause
//
// MailboxState: the messages that a rank sends and has fetched; mailbox.hpp explains the protocol.
//
// Every wait is in wait(), which meanwhile fetches what other ranks announce.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rma/armci/inbox.hpp"
#include "rma/armci/mailbox.hpp"
#include "rma/armci/mailbox_region.hpp"

namespace tessera::rma::armci::detail {

class MailboxState {
 public:
  explicit MailboxState(MailboxRegion region);

  Status free();
  Status send(std::int32_t tag, std::span<const std::byte> message, WorldRank to);
  /// From any rank if none is given.
  Result<Received> receive(std::int32_t tag, std::span<std::byte> buffer,
                           std::optional<WorldRank> from);

 private:
  // A message in a slot of this rank that `to` has not fetched, as far as this rank knows.
  struct Pending {
    WorldRank to;
    std::uint32_t number = 0;
    std::uint32_t slot = 0;
  };
  struct Fetched {
    StoredMessage message;
    Announcement previous;  // of the message before it
  };

  [[nodiscard]] Status check_rank(WorldRank rank) const;

  Status send_to_self(std::int32_t tag, std::span<const std::byte> message);
  Status send_short(std::int32_t tag, std::span<const std::byte> message, WorldRank to);
  Status send_long(std::int32_t tag, std::span<const std::byte> message, WorldRank to);
  Status send_parts(std::span<const std::byte> message, WorldRank to, Announcement head);
  std::uint32_t fill_slot(std::uint32_t slot, WorldRank to, std::int32_t tag,
                          std::span<const std::byte> message, std::size_t bytes_in_slot);
  Status announce(WorldRank to, Announcement announcement);

  Result<std::uint32_t> take_slot(WorldRank to);
  void collect_slots();
  void release_slots_of(WorldRank rank);

  void fetch_from_all();
  Status fetch_from(WorldRank from);
  Result<Fetched> fetch(WorldRank from, Announcement announcement);
  [[nodiscard]] bool has_announced(WorldRank from) const;

  Result<StoredMessage> wait_for_message(std::int32_t tag, std::optional<WorldRank> from);
  Result<Received> deliver(const StoredMessage& message, std::span<std::byte> buffer);
  Status take_parts(const StoredMessage& message, std::span<std::byte> buffer);
  Status take_part(const StoredMessage& message, std::uint64_t part, std::span<std::byte> buffer);

  template <class IsDone>
  Status wait(WorldRank peer, IsDone&& is_done);
  Result<WorldRank> find_live_peer();

  [[nodiscard]] std::uint32_t& seen(WorldRank rank) noexcept {
    return seen_[static_cast<std::size_t>(rank.value)];
  }
  [[nodiscard]] std::int32_t& sent(WorldRank rank) noexcept {
    return sent_[static_cast<std::size_t>(rank.value)];
  }

  MailboxRegion region_;
  Inbox inbox_;
  std::vector<std::uint32_t> seen_;  ///< by sender: all up to this number is fetched
  std::vector<std::int32_t> sent_;   ///< by receiver: the last announcement
  std::vector<std::uint32_t> free_slots_;
  std::vector<Pending> pending_;                  ///< oldest first
  std::optional<WorldRank> long_message_sender_;  ///< the sender of the long message whose parts it
                                                  ///< now announces
  WorldRank live_peer_;       ///< a rank that was alive when this rank last waited
                              ///< for any
  bool has_fetched_ = false;  ///< whether the last poll fetched anything
  Status fetch_error_;        ///< the error of fetching from ranks that are alive
};

}  // namespace tessera::rma::armci::detail
