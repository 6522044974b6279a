// SPDX-License-Identifier: BSD-3-Clause
//
// MailboxState: what a rank sends and has taken in; mailbox.hpp tells how messages travel.
//
// Everybody who waits does so in wait(), and takes in meanwhile what others announce.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rma/armci/inbox.hpp"
#include "rma/armci/mailbox.hpp"
#include "rma/armci/message_board.hpp"

namespace tessera::rma::armci::detail {

class MailboxState {
 public:
  explicit MailboxState(MessageBoard board);

  Status free();
  Status send(std::int32_t tag, std::span<const std::byte> message, WorldRank to);
  /// From any rank where none is given.
  Result<Received> receive(std::int32_t tag, std::span<std::byte> buffer,
                           std::optional<WorldRank> from);

 private:
  // A message in a slot of this rank that `to` has not taken, as far as this rank has noticed.
  struct Pending {
    WorldRank to;
    std::uint32_t number = 0;
    std::uint32_t slot = 0;
  };
  struct Fetched {
    Letter letter;
    Announcement previous;  // of the message before it
  };

  [[nodiscard]] Status check_rank(WorldRank rank) const;

  Status send_to_self(std::int32_t tag, std::span<const std::byte> message);
  Status send_short(std::int32_t tag, std::span<const std::byte> message, WorldRank to);
  Status send_long(std::int32_t tag, std::span<const std::byte> message, WorldRank to);
  Status send_parts(std::span<const std::byte> message, WorldRank to, Announcement head);
  std::uint32_t fill_slot(std::uint32_t slot, WorldRank to, std::int32_t tag,
                          std::span<const std::byte> message, std::size_t bytes_there);
  Status announce(WorldRank to, Announcement announcement);

  Result<std::uint32_t> take_slot(WorldRank to);
  void collect_slots();
  void give_back_slots_of(WorldRank rank);

  void take_in_from_all();
  Status take_in(WorldRank from);
  Result<Fetched> fetch(WorldRank from, Announcement announcement);
  [[nodiscard]] bool has_news(WorldRank from) const;

  Result<Letter> wait_for_letter(std::int32_t tag, std::optional<WorldRank> from);
  Result<Received> deliver(const Letter& letter, std::span<std::byte> buffer);
  Status take_parts(const Letter& letter, std::span<std::byte> buffer);
  Status take_part(const Letter& letter, std::uint64_t part, std::span<std::byte> buffer);

  template <class IsDone>
  Status wait(WorldRank awaited, IsDone&& is_done);
  Result<WorldRank> find_companion();

  [[nodiscard]] std::uint32_t& seen(WorldRank rank) noexcept {
    return seen_[static_cast<std::size_t>(rank.value)];
  }
  [[nodiscard]] std::int32_t& sent(WorldRank rank) noexcept {
    return sent_[static_cast<std::size_t>(rank.value)];
  }

  MessageBoard board_;
  Inbox inbox_;
  std::vector<std::uint32_t> seen_;  ///< by sender: the number up to which all is taken in
  std::vector<std::int32_t> sent_;   ///< by receiver: the last announcement
  std::vector<std::uint32_t> free_slots_;
  std::vector<Pending> pending_;             ///< oldest first
  std::optional<WorldRank> streaming_from_;  ///< what it announces are parts of a long message
  WorldRank companion_;                      ///< who was there when this rank last waited for any
  bool has_taken_in_ = false;                ///< anything, the last time it looked for it
  Status trouble_;                           ///< of taking in, from ranks that are there
};

}  // namespace tessera::rma::armci::detail
