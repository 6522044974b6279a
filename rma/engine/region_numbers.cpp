// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/region_numbers.hpp"

#include <fmt/format.h>

#include <atomic>
#include <limits>

#include "rma/engine/job_state.hpp"

namespace tessera::rma::detail {

// Each node counts for itself, in steps of the number of nodes. The counter stops at the end: a
// repeated number would name two pieces of memory. The last number is reserved for the server.
RegionId draw_region_id(const JobState& job) noexcept {
  std::atomic<std::uint32_t>& last = job.node().memory().header().last_region;
  const auto count = static_cast<std::uint64_t>(job.nodes().count());
  const auto own = static_cast<std::uint64_t>(job.nodes().node_of(job.rank()).value);
  std::uint32_t drawn = last.load();
  std::uint64_t id = 0;
  do {
    id = drawn * count + own + 1;
    if (id >= std::numeric_limits<std::uint32_t>::max()) {
      return RegionId{0};
    }
  } while (!last.compare_exchange_weak(drawn, drawn + 1));
  return RegionId{static_cast<std::uint32_t>(id)};
}

Result<RegionId> publish(const JobState& job, const PublishedMemory& piece) {
  const RegionId memory = draw_region_id(job);
  if (memory.value == 0) {
    return Status::error(Code::limit_exceeded,
                         fmt::format("all {} region numbers of this job are exhausted",
                                     std::numeric_limits<std::uint32_t>::max()));
  }
  TESSERA_RETURN_IF_ERROR(job.link()->publish(memory, piece));
  return memory;
}

}  // namespace tessera::rma::detail
