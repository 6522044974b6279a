// SPDX-License-Identifier: BSD-3-Clause
//
// How an operation reaches a slice that is not mapped here: by the route in the calling thread's
// slice cache if the endpoint can complete it within the call, else by the route that the operation
// and the region need. For rma/transfer.cpp and rma/atomic.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rma/engine/job_state.hpp"
#include "rma/engine/layered_segment.hpp"
#include "rma/engine/slice_cache.hpp"
#include "rma/protocol/locate.hpp"
#include "rma/protocol/remote.hpp"

namespace tessera::rma::detail {

/// Calls now(endpoint, target), which returns a Result<bool>, if the calling thread's cache has an
/// endpoint for the slice and the slice has the bytes of `extent` around `at`. Returns true, and
/// counts the operation, if it is done; false: use the general path.
template <class Now>
Result<bool> try_cached_route(const JobState& job, const RemoteAddress& at,
                              CopyShape::Extent extent, const Now& now, Op op, std::size_t bytes,
                              Form form = Form::contiguous) {
  CachedSlice* const entry = find_cached(job.slices().regions(), at.rank, at.region);
  if (entry == nullptr) {
    return false;
  }
  const RemoteSlice& remote = remote_of(*entry);
  const auto end = static_cast<std::int64_t>(entry->bytes);
  const auto offset = static_cast<std::int64_t>(at.offset);
  const bool is_in_slice =
      offset >= 0 && offset <= end && extent.lowest >= -offset && extent.highest <= end - offset;
  if (remote.endpoint == nullptr || !is_in_slice) {
    return false;
  }
  Result<bool> is_done =
      now(*remote.endpoint, Target{remote.segment, remote.member, at.offset, at.region});
  if (is_done.ok() && *is_done) {
    entry->count(op, bytes, 1, form);
  }
  return is_done;
}

/// What remote.hpp's functions need.
struct RemoteAccess {
  RemotePath path;
  Target target;
};

/// The way of an operation to the slice at `at`, which locate() found. Remembers it in the calling
/// thread's cache. Errors: as JobState::route_to().
inline Result<RemoteAccess> find_route(JobState& job, Op op, const RemoteAddress& at,
                                       const Located& located) {
  const RegionState& region = *located.region;
  const bool is_update = op == Op::accumulate || op == Op::atomic;
  CachedSlice* const entry = job.slices().cached(at.rank, at.region);
  Route* route = nullptr;
  if (is_update && region.has_remote_updates()) {
    TESSERA_ASSIGN_OR_RETURN(route, job.routes().update_to(at.rank));
  } else if (entry != nullptr && remote_of(*entry).route != nullptr) {
    route = remote_of(*entry).route;
  } else {
    TESSERA_ASSIGN_OR_RETURN(route, job.routes().to(at.rank));
    if (entry != nullptr) {
      remote_of(*entry).route = route;
    }
  }
  const RemoteAccess access{
      {job, *route->endpoint, route->transport->capabilities(),
       job.slices().stripes().slice(at.region, at.rank),
       region.options().atomics == Atomics::strict, at.rank},
      {segment_for(route->transport, job.transports().between_nodes(), region.segment()),
       located.member, at.offset, at.region}};
  job.slices().cache_route(at, region, access.path.endpoint, access.target);
  return access;
}

}  // namespace tessera::rma::detail
