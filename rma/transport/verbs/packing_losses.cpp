// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/verbs/packing_losses.hpp"

#include <algorithm>

namespace tessera::rma::verbs {

// Requires: mutex_ is locked. Patches of one array overlap, and count together.
PackingLosses::Entry& PackingLosses::entry_of(PageRange span) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& each) {
    return each.used > 0 && each.span.overlaps(span);
  });
  if (found != entries_.end()) {
    return *found;
  }
  Entry& oldest = *std::min_element(entries_.begin(), entries_.end(),
                                    [](const Entry& a, const Entry& b) { return a.used < b.used; });
  oldest = {.span = span};
  return oldest;
}

bool PackingLosses::add(PageRange span, double loss, double price) {
  const std::lock_guard guard(mutex_);
  Entry& entry = entry_of(span);
  entry.span = entry.span.united_with(span);
  entry.used = ++calls_;
  entry.loss += std::max(loss, 0.0);
  const bool pays = entry.loss > 0 && entry.loss >= price;
  if (pays) {
    entry.loss = 0;
  }
  return pays;
}

}  // namespace tessera::rma::verbs
