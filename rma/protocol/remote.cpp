// SPDX-License-Identifier: BSD-3-Clause
#include "rma/protocol/remote.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/base/rounding.hpp"
#include "rma/kernels/accumulate.hpp"
#include "rma/kernels/walk.hpp"
#include "rma/protocol/direct.hpp"

namespace tessera::rma::detail {
namespace {

// Runs `start` as one part of `done`. The part is announced first, and ended if `start` fails; if
// it throws, nothing was started.
template <class Start>
void start_part(Completion& done, Start&& start) {
  done.begin();
  if (Status status = catch_bad_alloc(start); !status.ok()) {
    done.end(std::move(status));
  }
}

// The same for work that is complete when `work` returns.
template <class Work>
void run_part(Completion& done, Work&& work) {
  start_part(done, [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(work());
    done.end({});
    return {};
  });
}

bool accumulates_natively(const RemotePath& path) {
  return path.can.accumulate && (!path.strict || path.can.strict);
}

// A get, a change of the bytes, a put and a fence, all complete at return. Requires: the caller
// holds the lock that makes them atomic.
template <class Change>
Status change_bytes(const RemotePath& path, const Target& at, std::byte* buffer, std::size_t bytes,
                    Change&& change) {
  const CopyShape whole = CopyShape::contiguous(bytes);
  const NoProgressScope no_help;  // The caller holds a stripe's lock.
  Completion done;
  start_part(done, [&] { return path.endpoint.get(buffer, at, whole, done); });
  TESSERA_RETURN_IF_ERROR(path.job.transports().finish(done, {"a get from", path.peer}));
  change(buffer);
  start_part(done, [&] { return path.endpoint.put(at, buffer, whole, done); });
  TESSERA_RETURN_IF_ERROR(path.job.transports().finish(done, {"a put to", path.peer}));
  return path.endpoint.fence();
}

Status accumulate_composed(const RemotePath& path, const Target& to, const std::byte* from,
                           std::size_t bytes, const Scale& scale) {
  constexpr std::size_t piece_bytes = 4096;
  static_assert(StripeLocks::stripe_bytes % piece_bytes == 0);
  alignas(16) std::array<std::byte, piece_bytes + 16> buffer;
  const std::size_t element = size_of(scale.type());
  // Operations that wait in the endpoint may need the lock that is held below, so they are
  // completed first.
  TESSERA_RETURN_IF_ERROR(path.endpoint.fence());
  for (std::size_t done = 0; done < bytes;) {
    const std::uint64_t offset = to.offset + done;
    const std::size_t to_boundary = piece_bytes - offset % piece_bytes;
    const std::size_t whole = round_up(to_boundary, element);
    const std::size_t step = std::min(whole, bytes - done);
    const RobustGuard guard(path.stripes.of(offset), path.stripes.context());
    TESSERA_RETURN_IF_ERROR(change_bytes(
        path, moved(to, static_cast<std::int64_t>(done)), buffer.data(), step,
        [&](std::byte* target) { kernels::accumulate_run(target, from + done, step, scale); }));
    done += step;
  }
  return {};
}

}  // namespace

void put_remote(const RemotePath& path, const Target& to, const void* from, const CopyShape& shape,
                Completion& done) {
  if (shape.levels == 0 || path.can.strided) {
    start_part(done, [&] { return path.endpoint.put(to, from, shape, done); });
    return;
  }
  const auto* source = static_cast<const std::byte*>(from);
  const CopyShape run = CopyShape::contiguous(shape.run_bytes);
  kernels::for_each_run(shape, [&](std::int64_t local, std::int64_t remote) {
    start_part(done,
               [&] { return path.endpoint.put(moved(to, remote), source + local, run, done); });
  });
}

void get_remote(const RemotePath& path, void* to, const Target& from, const CopyShape& shape,
                Completion& done) {
  if (shape.levels == 0 || path.can.strided) {
    start_part(done, [&] { return path.endpoint.get(to, from, shape, done); });
    return;
  }
  auto* destination = static_cast<std::byte*>(to);
  const CopyShape run = CopyShape::contiguous(shape.run_bytes);
  kernels::for_each_run(shape, [&](std::int64_t local, std::int64_t remote) {
    start_part(done, [&] {
      return path.endpoint.get(destination + local, moved(from, remote), run, done);
    });
  });
}

void accumulate_remote(const RemotePath& path, const Target& to, const void* from,
                       const CopyShape& shape, const Scale& scale, Completion& done) {
  if (accumulates_natively(path)) {
    start_part(done, [&] { return path.endpoint.accumulate(to, from, shape, scale, done); });
    return;
  }
  const auto* source = static_cast<const std::byte*>(from);
  kernels::for_each_run(shape, [&](std::int64_t local, std::int64_t remote) {
    run_part(done, [&] {
      return accumulate_composed(path, moved(to, remote), source + local, shape.run_bytes, scale);
    });
  });
}

void put_remote(const RemotePath& path, const Target& to, Fragments fragments, Completion& done) {
  start_part(done, [&] { return path.endpoint.put_fragments(to, fragments, done); });
}

void get_remote(const RemotePath& path, const Target& from, Fragments fragments, Completion& done) {
  start_part(done, [&] { return path.endpoint.get_fragments(from, fragments, done); });
}

void accumulate_remote(const RemotePath& path, const Target& to, Fragments fragments,
                       const Scale& scale, Completion& done) {
  if (accumulates_natively(path)) {
    start_part(done,
               [&] { return path.endpoint.accumulate_fragments(to, fragments, scale, done); });
    return;
  }
  for (const Fragment& each : fragments) {
    accumulate_remote(path, moved(to, static_cast<std::int64_t>(each.remote_offset)), each.local,
                      CopyShape::contiguous(each.bytes), scale, done);
  }
}

Status atomic_remote(const RemotePath& path, const Target& at, const AtomicRequest& request) {
  if (path.can.atomics && (!path.strict || path.can.strict)) {
    Completion done;
    start_part(done, [&] { return path.endpoint.atomic(at, request, done); });
    return path.job.transports().finish(done, {"an atomic operation on", path.peer});
  }
  TESSERA_RETURN_IF_ERROR(path.endpoint.fence());  // as in accumulate_composed
  const RobustGuard guard(path.stripes.of(at.offset), path.stripes.context());
  alignas(8) std::array<std::byte, 8> buffer{};
  return change_bytes(path, at, buffer.data(), static_cast<std::size_t>(request.bytes),
                      [&](std::byte* word) { request.report(atomic_direct(word, request)); });
}

void atomics_remote(const RemotePath& path, const Target& at, const AtomicList& list,
                    Completion& done) {
  if (path.can.atomics && (!path.strict || path.can.strict)) {
    start_part(done, [&] { return path.endpoint.atomic_list(at, list, done); });
    return;
  }
  run_part(done, [&]() -> Status {
    for (const AtomicList::Item& each : list.items) {
      TESSERA_RETURN_IF_ERROR(atomic_remote(path, moved(at, static_cast<std::int64_t>(each.offset)),
                                            list.request(each)));
    }
    return {};
  });
}

Status atomic_by_device(JobState& job, const Target& at, const WorldRank owner,
                        const AtomicRequest& request) {
  if (request.bytes != sizeof(std::int64_t)) {
    return Status::error(
               Code::unsupported,
               fmt::format("atomic operation on {} bytes in region {}, whose "
                           "atomics are done by network devices, which support 8-byte words only",
                           request.bytes, at.region.value))
        .hint("use words of 8 bytes, or allocate the region with Atomics::separate");
  }
  DataTransport* const between_nodes = job.transports().data_between_nodes();
  if (between_nodes == nullptr) {
    return Status::error(Code::internal,
                         "a region uses device atomics, but this job has no such devices");
  }
  TESSERA_ASSIGN_OR_RETURN(Endpoint * endpoint, between_nodes->atomics_by_device(owner));
  return endpoint->atomic_by_device(at, request);
}

}  // namespace tessera::rma::detail
