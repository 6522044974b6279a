// SPDX-License-Identifier: BSD-3-Clause
//
// LocalRanges: where the rows of a strided transfer lie in this process, registered. Rows of a
// patch lie in a larger array, with gaps: all of it from the first row to the last is one range,
// unless a gap costs more to register than a registration of its own.
//
// Wide rows, those with gaps larger than a few rows, are registered only if that pays: memory that
// is registered already is always used; else the transfer is packed, and what that loses is
// remembered until it has reached the price of registering (PackedSpans).
//
// Threads: find_local_ranges() by any thread; its result doesn't change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "rma/verbs/fabric.hpp"
#include "rma/verbs/registration.hpp"

namespace tessera::rma::verbs {

struct LocalRange {
  std::byte* from = nullptr;
  std::byte* end = nullptr;
  std::uint32_t key = 0;
  std::uint32_t remote_key = 0;
  std::shared_ptr<const Registration> held = nullptr;  ///< null for the arena's
};

/// By address; none overlaps another.
using LocalRanges = std::vector<LocalRange>;

/// The range that `at` lies in. Requires: there is one.
[[nodiscard]] const LocalRange& range_at(const LocalRanges& ranges, const std::byte* at) noexcept;

/// The rows of a transfer.
struct LocalRows {
  std::byte* from = nullptr;   ///< the lowest byte of all
  std::size_t span_bytes = 0;  ///< up to the highest
  std::size_t bytes = 0;       ///< of all rows together
  std::size_t count = 0;
  /// Calls its argument with each row, in any order.
  std::function<void(const std::function<void(std::byte* row, std::size_t bytes)>&)> for_each;
};

/// Null where the rows had better be packed.
[[nodiscard]] std::shared_ptr<const LocalRanges> find_local_ranges(const Adapter& adapter, Use use,
                                                                   const LocalRows& rows);

}  // namespace tessera::rma::verbs
