// SPDX-License-Identifier: BSD-3-Clause
//
// PackedSpans: what transfers of wide rows have lost so far because they were packed. If the loss
// of one span has reached the price of registering it, registering pays: whatever comes next, both
// together cost at most twice as much as the better one would have.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "rma/verbs/page_range.hpp"

namespace tessera::rma::verbs {

class PackedSpans {
 public:
  /// Rows in `span` are about to be packed, with that loss; true: they had better be registered,
  /// for `price`, and the loss counts from 0 again.
  [[nodiscard]] bool note(PageRange span, double loss, double price);

 private:
  struct Entry {
    PageRange span;
    double loss = 0;
    std::uint64_t used = 0;  // when, counted by calls; 0: never
  };
  Entry& entry_of(PageRange span);

  std::mutex mutex_;
  std::array<Entry, 16> entries_;  // of the spans that were used last
  std::uint64_t calls_ = 0;
};

}  // namespace tessera::rma::verbs
