// SPDX-License-Identifier: BSD-3-Clause
//
// From a RawAddress to the calling thread's line for the slice that it points into.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rma/engine/job_state.hpp"
#include "rma/region.hpp"

namespace tessera::rma::detail {

/// Where a pointer lies, as far as the thread's slice cache knows. A slice that is mapped here is
/// named by its addresses here, so that the pointer itself says where to read or write: the memory
/// is on its way while the rest is still being looked up.
struct CachedPlace {
  std::byte* pointer = nullptr;
  CachedSlice* line = nullptr;  ///< null: it isn't known
  std::uint64_t offset = 0;     ///< in the slice; beyond all bytes if it lies in another one

  /// Whether the slice is mapped and has `bytes` from there on.
  [[nodiscard]] bool is_mapped(std::size_t bytes) const noexcept {
    return line != nullptr && line->start_for(offset, bytes) != nullptr;
  }
};

[[gnu::always_inline]] inline CachedPlace find_cached(const JobState& job, RawAddress at) noexcept {
  auto* const pointer = static_cast<std::byte*>(const_cast<void*>(at.pointer));
  CachedSlice* const line = find_cached(job.regions, at.rank, job.addresses->find(pointer));
  if (line == nullptr) {
    return {};
  }
  return {pointer, line, static_cast<std::uint64_t>(pointer - line->raw)};
}

/// As find_cached, and the slice is looked up where the cache doesn't know it. No line where the
/// pointer lies in no region, or before the slice.
inline CachedPlace look_up(const JobState& job, RawAddress at) {
  auto* const pointer = static_cast<std::byte*>(const_cast<void*>(at.pointer));
  const RegionId region = job.addresses->find(pointer);
  CachedSlice* const line = region.value == 0 ? nullptr : job.cached_slice(at.rank, region);
  if (line == nullptr || line->raw == nullptr || pointer < line->raw) {
    return {};
  }
  return {pointer, line, static_cast<std::uint64_t>(pointer - line->raw)};
}

/// The address in its region, perhaps right behind the slice; number 0 where it takes a closer look
/// to tell.
inline RemoteAddress find(const JobState& job, RawAddress at) {
  const CachedPlace place = look_up(job, at);
  return place.line == nullptr || place.offset > place.line->bytes
             ? RemoteAddress{}
             : RemoteAddress{at.rank, place.line->region(), place.offset};
}

/// Whether a pointer names memory of this process that is not a region's, and so needs no more than
/// the processor. Another rank's slice under this rank's number is none: stripes would not guard
/// it, and between nodes nothing is mapped there.
inline bool is_ordinary(const JobState& job, RawAddress at) {
  return at.rank == job.rank && job.addresses->find(at.pointer).value == 0;
}

}  // namespace tessera::rma::detail
