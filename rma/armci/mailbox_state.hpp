// SPDX-License-Identifier: BSD-3-Clause
//
// MailboxState: a rank's mailbox; mailbox.hpp explains the protocol.
//
// Every wait is in wait(), which meanwhile fetches what other ranks announce, and sends what could
// not be sent before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rma/armci/inbox.hpp"
#include "rma/armci/mailbox.hpp"
#include "rma/armci/mailbox_region.hpp"
#include "rma/armci/outbox.hpp"

namespace tessera::rma::armci::detail {

class MailboxState {
 public:
  explicit MailboxState(MailboxRegion region);

  Status free();
  Status send(std::int32_t tag, std::span<const std::byte> message, WorldRank to);
  Status send_async(std::int32_t tag, std::span<const std::byte> message, WorldRank to);
  /// To all ranks if none is given.
  Status wait_sent(std::optional<WorldRank> to);
  /// From any rank if none is given.
  Result<std::optional<Received>> probe(std::int32_t tag, std::optional<WorldRank> from);
  Result<Received> receive(std::int32_t tag, std::span<std::byte> buffer,
                           std::optional<WorldRank> from);

 private:
  struct Fetched {
    StoredMessage message;
    Announcement previous;  // of the message before it
  };

  [[nodiscard]] Status check_rank(WorldRank rank) const;
  [[nodiscard]] Status check_message(std::span<const std::byte> message, WorldRank to) const;

  Status send_to_self(std::int32_t tag, std::span<const std::byte> message);
  Status start_send(std::int32_t tag, std::span<const std::byte> message, WorldRank to,
                    std::optional<Outbox::Ticket>& ticket);
  Status finish_send(Outbox::Ticket ticket, std::optional<WorldRank> to);

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

  MailboxRegion region_;
  Inbox inbox_;
  Outbox outbox_;
  std::vector<std::uint32_t> seen_;               ///< by sender: all up to this number is fetched.
  std::optional<WorldRank> long_message_sender_;  ///< the sender of the long message whose parts it
                                                  ///< now announces
  WorldRank live_peer_;       ///< a rank that was alive when this rank last waited
                              ///< for any
  bool has_fetched_ = false;  ///< whether the last poll fetched or sent anything
  Status fetch_error_;        ///< the error of fetching from ranks that are alive
};

}  // namespace tessera::rma::armci::detail
