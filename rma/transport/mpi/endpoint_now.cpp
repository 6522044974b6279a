// SPDX-License-Identifier: BSD-3-Clause
//
// Operations that a WindowEndpoint completes within the call, in windows that are shared memory.
#include <cstdint>

#include "rma/transport/mpi/each_call.hpp"
#include "rma/transport/mpi/endpoint.hpp"
#include "rma/transport/mpi/error.hpp"
#include "rma/transport/mpi/runs.hpp"
#include "rma/transport/mpi/types.hpp"

namespace tessera::rma::mpi {

using Which = StridedSide::Which;

// Whether one MPI call and a flush suffice, without the lock of this process's threads: nothing is
// left for a later operation to flush.
bool WindowEndpoint::is_shared(const Window& window, std::size_t bytes) const noexcept {
  return methods_.shares_windows && window.keeps_words() && window.is_lock_all() && !is_own_ &&
         bytes <= max_call_bytes && !has_changed_.load(std::memory_order_acquire);
}

Result<bool> WindowEndpoint::get_now(void* to, const Target& from, std::size_t bytes) {
  const WindowSegment& segment = WindowSegment::of(from);
  const Window& window = segment.window();
  if (!is_shared(window, bytes)) {
    return false;
  }
  const Run run{window, from.rank.value, segment.displacement_at(from.rank.value) + from.offset,
                bytes};
  TESSERA_RETURN_IF_ERROR(get_run(run, static_cast<std::byte*>(to), nullptr));
  TESSERA_RETURN_IF_ERROR(window.flush_local(run.rank));
  return true;
}

Result<bool> WindowEndpoint::accumulate_now(const Target& to, const void* from, std::size_t bytes,
                                            const Scale& scale) {
  const WindowSegment& segment = WindowSegment::of(to);
  const Window& window = segment.window();
  if (!is_shared(window, bytes) || segment.is_strict() || !scale.is_one() ||
      adds_at_origin(window, scale) || uses_swaps(window, scale)) {
    return false;
  }
  const Run run{window, to.rank.value, segment.displacement_at(to.rank.value) + to.offset, bytes};
  const AddedType added = added_type(scale.type());
  const Sides sides{static_cast<int>(bytes / added.bytes), added.type, added.type};
  TESSERA_RETURN_IF_ERROR(update_sides(run, from, sides, op_of(scale)));
  TESSERA_RETURN_IF_ERROR(window.flush(run.rank));
  return true;
}

Result<bool> WindowEndpoint::put_shared(const Target& to, const void* from, std::size_t bytes) {
  const WindowSegment& segment = WindowSegment::of(to);
  const Window& window = segment.window();
  const Run run{window, to.rank.value, segment.displacement_at(to.rank.value) + to.offset, bytes};
  TESSERA_RETURN_IF_ERROR(put_sides(run, from, Sides::of(run.displacement, bytes), nullptr));
  TESSERA_RETURN_IF_ERROR(window.flush(run.rank));
  return true;
}

Result<bool> WindowEndpoint::atomic_now(const Target& at, const AtomicRequest& request) {
  const WindowSegment& segment = WindowSegment::of(at);
  const Window& window = segment.window();
  const auto bytes = static_cast<std::size_t>(request.bytes);
  if (!is_shared(window, bytes) || !has_atomics(window)) {
    return false;
  }
  TESSERA_RETURN_IF_ERROR(call_atomic(
      {window, at.rank.value, segment.displacement_at(at.rank.value) + at.offset, bytes}, request));
  return true;
}

Result<bool> WindowEndpoint::copy_shape_now(const Target& remote, std::byte* local,
                                            const CopyShape& shape, Direction direction) {
  const WindowLocation location = location_of(remote);
  const Which written = written_side(direction);
  if (!is_shared(location.window, shape.run_bytes) || !runs_are_apart(shape, written)) {
    return false;
  }
  const Epoch epoch(location.window, location.rank, location.lock_type);
  const Run first{location.window, location.rank, location.displacement, shape.run_bytes};
  if (copies_directly(location, shape, written)) {
    TESSERA_ASSIGN_OR_RETURN(const Sides sides, copied_sides_of(shape, location.displacement));
    TESSERA_RETURN_IF_ERROR(transfer_sides(first, local, sides, direction, nullptr));
  } else {
    TESSERA_RETURN_IF_ERROR(for_each_call(shape, first, completer_of(epoch, Method::batched),
                                          [&](std::int64_t offset, const Run& run) {
                                            return transfer_run(run, local + offset, direction,
                                                                nullptr);
                                          }));
  }
  TESSERA_RETURN_IF_ERROR(direction == Direction::to_remote
                              ? location.window.flush(location.rank)
                              : location.window.flush_local(location.rank));
  return true;
}

Result<bool> WindowEndpoint::put_shape_now(const Target& to, const void* from,
                                           const CopyShape& shape) {
  return copy_shape_now(to, static_cast<std::byte*>(const_cast<void*>(from)), shape,
                        Direction::to_remote);
}

Result<bool> WindowEndpoint::get_shape_now(void* to, const Target& from, const CopyShape& shape) {
  return copy_shape_now(from, static_cast<std::byte*>(to), shape, Direction::from_remote);
}

Result<bool> WindowEndpoint::accumulate_shape_now(const Target& to, const void* from,
                                                  const CopyShape& shape, const Scale& scale) {
  const WindowLocation location = location_of(to);
  if (!is_shared(location.window, shape.run_bytes) || WindowSegment::of(to).is_strict() ||
      !scale.is_one() || adds_at_origin(location.window, scale) ||
      uses_swaps(location.window, scale) || methods_.of_shape(shape, true) == Method::direct) {
    return false;
  }
  const auto* const source = static_cast<const std::byte*>(from);
  const Epoch epoch(location.window, location.rank, location.lock_type);
  const Run first{location.window, location.rank, location.displacement, shape.run_bytes};
  TESSERA_RETURN_IF_ERROR(for_each_call(shape, first, completer_of(epoch, Method::batched),
                                        [&](std::int64_t local, const Run& run) {
                                          return accumulate_run(run, source + local, scale);
                                        }));
  TESSERA_RETURN_IF_ERROR(location.window.flush(location.rank));
  return true;
}

// The datatypes of a repeated list, which move it in one call; null: it is new, or such lists are
// not cached.
Result<const ListTypes*> WindowEndpoint::cached_types(Fragments fragments,
                                                      const AddedType& element) {
  return methods_.caches_lists(fragments) ? lists_.find(fragments, element.type, element.bytes)
                                          : Result<const ListTypes*>(nullptr);
}

}  // namespace tessera::rma::mpi
