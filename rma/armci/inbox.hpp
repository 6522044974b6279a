// SPDX-License-Identifier: BSD-3-Clause
//
// Inbox: the messages that a rank has fetched and the program has not yet received.
//
// Threads: as the mailbox. Cost: take() searches the messages with its tag.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"

namespace tessera::rma::armci::detail {

struct StoredMessage {
  WorldRank from;
  std::int32_t tag = 0;
  std::uint64_t bytes = 0;
  bool is_complete = true;              ///< false: its parts are still with the sender
  std::vector<std::byte> content = {};  ///< if it is complete
  std::uint32_t number_before = 0;      ///< the number before that of the first part
};

/// Local. A copy of `bytes` on the heap. Errors: no_memory.
std::vector<std::byte> copy_of(std::span<const std::byte> bytes);

class Inbox {
 public:
  /// Requires: the sender sent `message` after those of its messages that were added before.
  void add(StoredMessage message) { by_tag_[message.tag].push_back(std::move(message)); }

  /// The oldest with that tag, from that rank or from any; null if there is none. Valid until the
  /// inbox changes.
  [[nodiscard]] const StoredMessage* find(std::int32_t tag, std::optional<WorldRank> from) const;
  /// Removes and returns the oldest with that tag, from that rank or from any; none if there is
  /// none.
  std::optional<StoredMessage> take(std::int32_t tag, std::optional<WorldRank> from);

 private:
  using Messages = std::list<StoredMessage>;
  static Messages::const_iterator oldest(const Messages& messages, std::optional<WorldRank> from);

  std::unordered_map<std::int32_t, Messages> by_tag_;  ///< no list is empty
};

}  // namespace tessera::rma::armci::detail
