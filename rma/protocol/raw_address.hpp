// SPDX-License-Identifier: BSD-3-Clause
//
// Finds the calling thread's cache entry for the slice into which a RawAddress points.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rma/engine/job_state.hpp"
#include "rma/region.hpp"

namespace tessera::rma::detail {

/// What the thread's slice cache knows of a raw pointer. The raw pointers of a mapped slice are its
/// addresses in this process. So the pointer is the address to read or write, and the processor can
/// fetch that memory before the search ends.
struct CachedLocation {
  std::byte* pointer = nullptr;
  CachedSlice* slice = nullptr;  ///< null: not in the cache
  /// Bytes from the start of the slice. Larger than the slice if the pointer is in another one, or
  /// the slice has no raw address.
  std::uint64_t offset = 0;

  /// Whether the slice is mapped for such operations and has `bytes` from there on.
  [[nodiscard]] bool is_mapped(Op op, std::size_t bytes) const noexcept {
    return slice != nullptr && slice->start_for(op, offset, bytes) != nullptr;
  }
};

[[gnu::always_inline]] inline CachedLocation location_in(CachedSlice* slice,
                                                         const void* at) noexcept {
  if (slice == nullptr) {
    return {};
  }
  auto* const pointer = static_cast<std::byte*>(const_cast<void*>(at));
  return {pointer, slice, static_cast<std::uint64_t>(pointer - slice->raw)};
}

[[gnu::always_inline]] inline CachedLocation find_cached(const JobState& job,
                                                         RawAddress at) noexcept {
  const RegionId region = job.slices().addresses().find(at.pointer);
  return location_in(find_cached(job.slices().regions(), at.rank, region), at.pointer);
}

/// As find_cached, but fills the cache entry if the slice is not in the cache.
inline CachedLocation find_or_fill(const JobState& job, RawAddress at) {
  const RegionId region = job.slices().addresses().find(at.pointer);
  return region.value == 0 ? CachedLocation{}
                           : location_in(job.slices().cached(at.rank, region), at.pointer);
}

/// The address in its region, perhaps the end of the slice. Number 0 if only the slow path can find
/// it.
inline RemoteAddress find(const JobState& job, RawAddress at) {
  const CachedLocation location = find_or_fill(job, at);
  return location.slice == nullptr || location.offset > location.slice->bytes
             ? RemoteAddress{}
             : RemoteAddress{at.rank, location.slice->region(), location.offset};
}

/// Whether a pointer names ordinary memory of this process, outside all regions, which needs no
/// protocol. False for another rank's slice under this rank's number: stripe locks would not guard
/// it, and between nodes it is not mapped.
inline bool is_private_memory(const JobState& job, RawAddress at) {
  return at.rank == job.rank() && job.slices().addresses().find(at.pointer).value == 0;
}

}  // namespace tessera::rma::detail
