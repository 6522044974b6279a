// SPDX-License-Identifier: BSD-3-Clause
#include "rma/armci/inbox.hpp"

#include <algorithm>
#include <utility>

namespace tessera::rma::armci::detail {

std::vector<std::byte> copy_of(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

Inbox::Messages::const_iterator Inbox::oldest(const Messages& messages,
                                              std::optional<WorldRank> from) {
  return std::find_if(messages.begin(), messages.end(), [&](const StoredMessage& each) {
    return !from.has_value() || each.from == *from;
  });
}

const StoredMessage* Inbox::find(std::int32_t tag, std::optional<WorldRank> from) const {
  const auto same_tag = by_tag_.find(tag);
  if (same_tag == by_tag_.end()) {
    return nullptr;
  }
  const auto found = oldest(same_tag->second, from);
  return found == same_tag->second.end() ? nullptr : &*found;
}

std::optional<StoredMessage> Inbox::take(std::int32_t tag, std::optional<WorldRank> from) {
  const auto same_tag = by_tag_.find(tag);
  if (same_tag == by_tag_.end()) {
    return std::nullopt;
  }
  Messages& messages = same_tag->second;
  const auto found = oldest(messages, from);
  if (found == messages.end()) {
    return std::nullopt;
  }
  Messages removed;
  removed.splice(removed.begin(), messages, found);
  if (messages.empty()) {
    by_tag_.erase(same_tag);
  }
  return std::move(removed.front());
}

}  // namespace tessera::rma::armci::detail
