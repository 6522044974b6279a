// SPDX-License-Identifier: BSD-3-Clause
//
// Gets that the other end's device writes, after a request to its agent ([ARMCI06] §5.2.3).
#include <algorithm>
#include <utility>

#include "rma/transport/verbs/endpoint.hpp"

namespace tessera::rma::verbs {

// Returns true if it has begun the get, false if the caller must use another way. The get is a
// request, so the agent executes it after all earlier requests, fenced or not.
Result<bool> VerbsEndpoint::get_assisted(std::byte* to, const Target& from, const CopyShape& shape,
                                         Completion& done) {
  if (shape.total_bytes() < min_assisted_ || shape.run_bytes < min_row_) {
    return false;
  }
  return shape.levels == 0 ? request_run(to, from, shape.run_bytes, done)
                           : request_rows(to, from, shape, done);
}

Result<bool> VerbsEndpoint::request_run(std::byte* to, const Target& from, std::size_t bytes,
                                        Completion& done) {
  std::size_t requested = 0;
  Status status;
  while (requested < bytes && status.ok()) {
    const auto remote = find(from.region, from.offset + requested);
    if (!remote.ok()) {
      status = remote.status();
      break;
    }
    auto known = *remote
                     ? find_first_part(Direction::from_remote, to + requested, bytes - requested)
                     : std::nullopt;
    if (!known) {
      Target rest = from;
      rest.offset += requested;
      status = requested == 0
                   ? Status()
                   : move(Direction::from_remote, rest, to + requested, bytes - requested, done);
      TESSERA_RETURN_IF_ERROR(status.ok() ? Status() : conclude(std::move(status), true, done));
      return requested > 0;
    }
    const auto here = std::min<std::size_t>({bytes - requested, known->bytes, (*remote)->bytes});
    status = request_in_parts({.rank = peer_,
                               .region = from.region,
                               .offset = from.offset + requested,
                               .shape = CopyShape::contiguous(here),
                               .address = reinterpret_cast<std::uintptr_t>(to + requested),
                               .key = known->remote_key},
                              known->held, done);
    requested += here;
  }
  TESSERA_RETURN_IF_ERROR(conclude(std::move(status), requested > 0, done));
  return true;
}

Result<bool> VerbsEndpoint::request_rows(std::byte* to, const Target& from, const CopyShape& shape,
                                         Completion& done) {
  TESSERA_ASSIGN_OR_RETURN(
      const auto registered,
      find_registered_range(Direction::from_remote, from.region, rows_of(from, to, shape)));
  // The other end has one key for all of it.
  if (!registered || registered->local->size() > 1) {
    return false;
  }
  Status status = request_in_parts({.rank = peer_,
                                    .region = from.region,
                                    .offset = from.offset,
                                    .shape = shape,
                                    .address = reinterpret_cast<std::uintptr_t>(to),
                                    .key = registered->local->front().remote_key},
                                   registered->local, done);
  TESSERA_RETURN_IF_ERROR(conclude(std::move(status), true, done));
  return true;
}

// Splits the shape in halves along its outermost level until each part is small enough for one
// write.
Status VerbsEndpoint::request_in_parts(const detail::AssistedGetRequest& request,
                                       const std::shared_ptr<const void>& held, Completion& done) {
  const CopyShape& all = request.shape;
  if (all.total_bytes() <= detail::max_assisted_get_bytes &&
      all.runs() <= detail::max_assisted_get_runs) {
    return requests_.request_assisted_get(request, done, held);
  }
  detail::AssistedGetRequest first = request;
  detail::AssistedGetRequest second = request;
  std::int64_t here = 0;
  std::int64_t there = 0;
  if (all.levels == 0) {
    first.shape.run_bytes = all.run_bytes / 2;
    second.shape.run_bytes = all.run_bytes - first.shape.run_bytes;
    here = there = static_cast<std::int64_t>(first.shape.run_bytes);
  } else {
    const auto top = static_cast<std::size_t>(all.levels - 1);
    first.shape.level[top].count = all.level[top].count / 2;
    second.shape.level[top].count = all.level[top].count - all.level[top].count / 2;
    here = all.level[top].count / 2 * all.level[top].local_stride;
    there = all.level[top].count / 2 * all.level[top].remote_stride;
    first.shape = first.shape.normalised();
    second.shape = second.shape.normalised();
  }
  second.address += static_cast<std::uint64_t>(here);
  second.offset += static_cast<std::uint64_t>(there);
  TESSERA_RETURN_IF_ERROR(request_in_parts(first, held, done));
  return request_in_parts(second, held, done);
}

}  // namespace tessera::rma::verbs
