// SPDX-License-Identifier: BSD-3-Clause
//
// PackingLosses: the time that transfers of wide rows have lost so far by packing. When the loss of
// a span reaches the cost of its registration, it is registered. So the total cost is at most twice
// the cost of the better choice, whatever follows.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "rma/transport/verbs/page_range.hpp"

namespace tessera::rma::verbs {

class PackingLosses {
 public:
  /// Records that rows in `span` are about to be packed, with that loss. Returns true if they
  /// should be registered instead, for `price`; the loss then starts at 0 again.
  [[nodiscard]] bool add(PageRange span, double loss, double price);

 private:
  struct Entry {
    PageRange span;
    double loss = 0;
    std::uint64_t used = 0;  // time of last use, in calls; 0: never
  };
  Entry& entry_of(PageRange span);

  std::mutex mutex_;
  std::array<Entry, 16> entries_;  // the most recently used spans
  std::uint64_t calls_ = 0;
};

}  // namespace tessera::rma::verbs
