// SPDX-License-Identifier: BSD-3-Clause
#include "rma/protocol/locate.hpp"

#include <fmt/format.h>

#include <string>

#include "rma/engine/access.hpp"

namespace tessera::rma::detail {
namespace {

Status unknown_region(const JobState& job, RegionId region) {
  TESSERA_RETURN_IF_ERROR(job.check_running());
  return Status::error(Code::closed,
                       fmt::format("region {} is not known on rank {}: it was freed, or this rank "
                                   "is not in its team",
                                   region.value, job.rank().value));
}

Status check_mode(Op op, const RegionState& region) {
  const AccessMode mode = region.options().access_mode;
  return allows(mode, op)
             ? Status()
             : forbidden(fmt::format("{} on {}", to_string(op), region.describe()), mode);
}

// Checks the target bytes [offset + lowest, offset + highest) against the slice [0, bytes).
Status check_range(const RemoteAddress& at, CopyShape::Extent extent, std::size_t bytes,
                   RegionId region) {
  const bool empty = extent.lowest == extent.highest;
  const auto offset = static_cast<std::int64_t>(at.offset);
  std::int64_t end = 0;
  const bool fits = at.offset <= bytes && offset >= 0 && offset + extent.lowest >= 0 &&
                    !__builtin_add_overflow(offset, extent.highest, &end) &&
                    static_cast<std::uint64_t>(end) <= bytes;
  if (fits || (empty && at.offset <= bytes)) {
    return {};
  }
  const std::string whose = fmt::format("rank {}'s slice of region {}, which has {} bytes",
                                        at.rank.value, region.value, bytes);
  if (offset < 0) {
    return Status::error_at(at.rank, Code::out_of_range,
                            fmt::format("offset {} does not lie in {}", at.offset, whose));
  }
  return Status::error_at(
      at.rank, Code::out_of_range,
      fmt::format("bytes [{}, {}) do not lie in {}", offset + extent.lowest,
                  at.offset + static_cast<std::uint64_t>(extent.highest), whose));
}

}  // namespace

Result<Located> locate(JobState& job, Op op, const RemoteAddress& at, CopyShape::Extent extent) {
  RegionState* const found = job.slices().regions().find(at.region);
  if (found == nullptr) {
    return unknown_region(job, at.region);
  }
  RegionState& region = *found;
  const TeamRank member = region.team_state().team_rank(at.rank);
  if (member.value < 0) {
    return Status::error(
        Code::invalid_argument,
        fmt::format("rank {} has no slice of region {}: it is not in the region's team of {} ranks",
                    at.rank.value, at.region.value, region.team().size()));
  }
  TESSERA_RETURN_IF_ERROR(check_mode(op, region));
  TESSERA_RETURN_IF_ERROR(check_range(at, extent, region.bytes(member), at.region));
  const bool is_update = op == Op::accumulate || op == Op::atomic;
  return Located{&region, member,
                 is_update && region.has_remote_updates() ? nullptr : region.direct(member)};
}

}  // namespace tessera::rma::detail
