// SPDX-License-Identifier: BSD-3-Clause
//
// put, get and accumulate: contiguous, shaped (strided) and scattered; blocking and with a Handle.
//
// All are one-sided: the target takes no part, whatever it is doing. A blocking put or accumulate
// returns when the source may be reused; a blocking get returns when the data have arrived. Fences
// and barriers complete puts and accumulates at the target. docs/memory-model.md has the whole
// contract. Local memory may be a slice, also the target's own. If the two sides of a contiguous or
// shaped transfer overlap, the result is as if the whole source were read first. This holds for
// transports that take strided shapes (Capabilities::strided).
//
// Errors, here and from Handle::wait():
// out_of_range      the target bytes do not lie in the slice; nothing was sent
// invalid_argument  a null buffer, or an invalid shape or list; nothing was sent
//   closed            the region was freed, or the job stopped; nothing was sent
//   peer_lost         the target bytes are unspecified
//
// Threads: all functions may be called from any thread.
#pragma once

#include <cstddef>
#include <type_traits>

#include "rma/element.hpp"
#include "rma/handle.hpp"
#include "rma/job.hpp"
#include "rma/region.hpp"
#include "rma/shape.hpp"

namespace tessera::rma {

/// One-sided. Copies `bytes` bytes from local memory to the target. Complete: locally at return.
/// Cost on one node: one copy; about 5 ns for 8 bytes, which never tear if aligned.
Status put(Job& job, RemoteAddress to, const void* from, std::size_t bytes);
/// One-sided. Copies what `shape` describes. Complete: locally at return.
Status put(Job& job, RemoteAddress to, const void* from, const CopyShape& shape);
/// One-sided. Copies all fragments to the slice of `to.rank`; fragment offsets are relative to
/// `to.offset`. Complete: locally at return.
/// Errors: also invalid_argument if target bytes overlap.
/// Cost: O(n), or O(n log n) if the list is not in ascending order of target offsets.
Status put(Job& job, RemoteAddress to, Fragments fragments);

/// One-sided. Copies `bytes` bytes from the target to local memory. Complete: the data are here at
/// return.
Status get(Job& job, RemoteAddress from, void* to, std::size_t bytes);
Status get(Job& job, RemoteAddress from, void* to, const CopyShape& shape);
/// One-sided. Copies all fragments from the slice of `from.rank`.
/// Errors: also invalid_argument if local bytes overlap.
Status get(Job& job, RemoteAddress from, Fragments fragments);

/// One-sided. Computes target += scale * source for each element, atomically for each element
/// against other accumulates. Complete: locally at return.
/// Errors: also invalid_argument if a run is not a whole number of elements.
Status accumulate(Job& job, RemoteAddress to, const void* from, std::size_t bytes,
                  const Scale& scale);
Status accumulate(Job& job, RemoteAddress to, const void* from, const CopyShape& shape,
                  const Scale& scale);
/// Fragments may overlap; each is added.
Status accumulate(Job& job, RemoteAddress to, Fragments fragments, const Scale& scale);

/// put(), get() and accumulate() without waiting. Complete: locally after wait(). Requires: local
/// memory stays unchanged until then; the fragment list itself may be destroyed at once.
Handle put_async(Job& job, RemoteAddress to, const void* from, std::size_t bytes);
Handle put_async(Job& job, RemoteAddress to, const void* from, const CopyShape& shape);
Handle put_async(Job& job, RemoteAddress to, Fragments fragments);
Handle get_async(Job& job, RemoteAddress from, void* to, std::size_t bytes);
Handle get_async(Job& job, RemoteAddress from, void* to, const CopyShape& shape);
Handle get_async(Job& job, RemoteAddress from, Fragments fragments);
Handle accumulate_async(Job& job, RemoteAddress to, const void* from, std::size_t bytes,
                        const Scale& scale);
Handle accumulate_async(Job& job, RemoteAddress to, const void* from, const CopyShape& shape,
                        const Scale& scale);
Handle accumulate_async(Job& job, RemoteAddress to, Fragments fragments, const Scale& scale);

/// One-sided. Puts a value, as put() of its bytes. `value` may be destroyed at return.
template <class T>
requires std::is_trivially_copyable_v<T> Status put_value(Job& job, RemoteAddress to,
                                                          const T& value) {
  return put(job, to, &value, sizeof value);
}

/// One-sided. Gets a value, as get() of its bytes.
template <class T>
requires std::is_trivially_copyable_v<T> Result<T> get_value(Job& job, RemoteAddress from) {
  T value;
  if (Status status = get(job, from, &value, sizeof value); !status.ok()) {
    return status;
  }
  return value;
}

}  // namespace tessera::rma
