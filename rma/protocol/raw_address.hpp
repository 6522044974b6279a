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
  /// In the slice; beyond all bytes if it lies in another one, or nothing stands for the slice.
  std::uint64_t offset = 0;

  /// Whether the slice is mapped for such operations and has `bytes` from there on.
  [[nodiscard]] bool is_mapped(Op op, std::size_t bytes) const noexcept {
    return line != nullptr && line->start_for(op, offset, bytes) != nullptr;
  }
};

[[gnu::always_inline]] inline CachedPlace place_in(CachedSlice* line, const void* at) noexcept {
  if (line == nullptr) {
    return {};
  }
  auto* const pointer = static_cast<std::byte*>(const_cast<void*>(at));
  return {pointer, line, static_cast<std::uint64_t>(pointer - line->raw)};
}

[[gnu::always_inline]] inline CachedPlace find_cached(const JobState& job, RawAddress at) noexcept {
  const RegionId region = job.addresses->find(at.pointer);
  return place_in(find_cached(job.regions, at.rank, region), at.pointer);
}

/// As find_cached, and the slice is looked up where the cache doesn't know it.
inline CachedPlace look_up(const JobState& job, RawAddress at) {
  const RegionId region = job.addresses->find(at.pointer);
  return region.value == 0 ? CachedPlace{}
                           : place_in(job.cached_slice(at.rank, region), at.pointer);
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
