// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers for memory that other ranks name, unique in the job.
#pragma once

#include "rma/base/result.hpp"
#include "rma/region_id.hpp"
#include "rma/transport/control_channel.hpp"

namespace tessera::rma::detail {

class JobState;

/// Draws a number. 0: all numbers are exhausted. Threads: any.
[[nodiscard]] RegionId draw_region_id(const JobState& job) noexcept;

/// Makes a piece of this node's memory known to other nodes, under a new number.
/// Errors: limit_exceeded, no_memory. Requires: the job has a link to other nodes.
Result<RegionId> publish(const JobState& job, const PublishedMemory& piece);

}  // namespace tessera::rma::detail
