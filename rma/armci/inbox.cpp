// SPDX-License-Identifier: BSD-3-Clause
#include "rma/armci/inbox.hpp"

#include <algorithm>
#include <utility>

namespace tessera::rma::armci::detail {

std::vector<std::byte> copy_of(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

std::optional<StoredMessage> Inbox::take(std::int32_t tag, std::optional<WorldRank> from) {
  const auto same_tag = by_tag_.find(tag);
  if (same_tag == by_tag_.end()) {
    return std::nullopt;
  }
  std::list<StoredMessage>& messages = same_tag->second;
  const auto oldest = std::find_if(
      messages.begin(), messages.end(),
      [&](const StoredMessage& each) { return !from.has_value() || each.from == *from; });
  if (oldest == messages.end()) {
    return std::nullopt;
  }
  std::optional<StoredMessage> taken = std::move(*oldest);
  messages.erase(oldest);
  if (messages.empty()) {
    by_tag_.erase(same_tag);
  }
  return taken;
}

}  // namespace tessera::rma::armci::detail
