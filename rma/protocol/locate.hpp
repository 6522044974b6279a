// SPDX-License-Identifier: BSD-3-Clause
//
// Finds the region, the member and, if possible, the memory of a RemoteAddress. Makes every check
// that a one-sided operation needs, with an error message for each. This is the slow path;
// rma/transfer.cpp has a short cut for the common case.
#pragma once

#include <cstddef>

#include "rma/counters.hpp"
#include "rma/engine/job_state.hpp"
#include "rma/engine/region_state.hpp"
#include "rma/region.hpp"
#include "rma/shape.hpp"

namespace tessera::rma::detail {

struct Located {
  RegionState* region = nullptr;
  TeamRank member;
  /// Where the member's slice is mapped; null if it is not, or if the operation must use the
  /// endpoint.
  std::byte* slice = nullptr;
};

/// Finds the target of an operation that accesses `extent` bytes around `at`.
/// Errors: closed, invalid_argument (not a member, access mode), out_of_range.
Result<Located> locate(JobState& job, Op op, const RemoteAddress& at, CopyShape::Extent extent);

}  // namespace tessera::rma::detail
