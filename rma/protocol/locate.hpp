// SPDX-License-Identifier: BSD-3-Clause
//
// Locating: from a RemoteAddress to the region, the member and, where it can be, the memory; with
// every check that a one-sided operation needs, and the sentence for each that fails. The careful
// path; rma/transfer.cpp takes a short cut to it for the common case.
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
  /// Where the member's slice is mapped; null where it isn't, or the operation goes another way.
  std::byte* slice = nullptr;
};

/// Finds the target of an operation that touches `extent` bytes around `at`.
/// Errors: closed, invalid_argument (not a member, access mode), out_of_range.
Result<Located> locate(JobState& job, Op op, const RemoteAddress& at, CopyShape::Extent extent);

}  // namespace tessera::rma::detail
