// SPDX-License-Identifier: BSD-3-Clause
//
// LocalRanges: the registered memory that contains the local rows of a strided transfer. Rows of a
// patch lie in a larger array, with gaps. The whole memory from the first row to the last is one
// range, unless a gap costs more than a registration of its own.
//
// Wide rows, with gaps larger than a few rows, are registered only if that pays. Memory that is
// registered already is always used. Otherwise the transfer is packed, and PackingLosses adds up
// the loss until it reaches the cost of registration.
//
// Threads: find_local_ranges() by any thread; its result doesn't change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "rma/transport/verbs/context.hpp"
#include "rma/transport/verbs/registration.hpp"

namespace tessera::rma::verbs {

struct LocalRange {
  std::byte* from = nullptr;
  std::byte* end = nullptr;
  std::uint32_t key = 0;
  std::uint32_t remote_key = 0;
  std::shared_ptr<const Registration> held = nullptr;  ///< null for arena memory
};

/// Sorted by address, without overlap.
using LocalRanges = std::vector<LocalRange>;

/// The range that contains `at`. Requires: it exists.
[[nodiscard]] const LocalRange& range_at(const LocalRanges& ranges, const std::byte* at) noexcept;

/// The rows of a transfer.
struct LocalRows {
  std::byte* from = nullptr;   ///< the lowest byte of all rows
  std::size_t span_bytes = 0;  ///< up to the highest
  std::size_t bytes = 0;       ///< of all rows together
  std::size_t count = 0;
  /// Calls its argument with each row, in any order.
  std::function<void(const std::function<void(std::byte* row, std::size_t bytes)>&)> for_each;
};

/// Null if the rows are better packed.
[[nodiscard]] std::shared_ptr<const LocalRanges> find_local_ranges(const Adapter& adapter, Use use,
                                                                   const LocalRows& rows);

}  // namespace tessera::rma::verbs
