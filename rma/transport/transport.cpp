// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/transport.hpp"

#include <utility>

#include "rma/transport/control_channel.hpp"

namespace tessera::rma {
namespace {

// Starts one part of `done` for each fragment, and ends the part that the caller announced.
template <class Start>
Status start_each(const Target& target, Fragments fragments, Completion& done, Start&& start) {
  for (const Fragment& each : fragments) {
    Target at = target;
    at.offset += each.remote_offset;
    BegunPart part(done);
    part.hand_over(start(at, each.local, CopyShape::contiguous(each.bytes)));
  }
  done.end({});
  return {};
}

}  // namespace

Status Endpoint::put_fragments(const Target& to, Fragments fragments, Completion& done) {
  return start_each(to, fragments, done, [&](const Target& at, void* local, const CopyShape& run) {
    return put(at, local, run, done);
  });
}

Status Endpoint::get_fragments(const Target& from, Fragments fragments, Completion& done) {
  return start_each(from, fragments, done,
                    [&](const Target& at, void* local, const CopyShape& run) {
                      return get(local, at, run, done);
                    });
}

Status Endpoint::accumulate_fragments(const Target& to, Fragments fragments, const Scale& scale,
                                      Completion& done) {
  return start_each(to, fragments, done, [&](const Target& at, void* local, const CopyShape& run) {
    return accumulate(at, local, run, scale, done);
  });
}

Status Endpoint::start_fence(Completion& done) {
  TESSERA_RETURN_IF_ERROR(fence());
  done.end({});
  return {};
}

Status Endpoint::accumulate(const Target&, const void*, const CopyShape&, const Scale&,
                            Completion&) {
  return Status::error(Code::unsupported, "this transport does not implement accumulate");
}

Status Endpoint::atomic(const Target&, const AtomicRequest&, Completion&) {
  return Status::error(Code::unsupported, "this transport does not implement atomic operations");
}

Status Endpoint::atomic_list(const Target& at, const AtomicList& list, Completion& done) {
  for (const AtomicList::Item& each : list.items) {
    Target word = at;
    word.offset += each.offset;
    BegunPart part(done);
    part.hand_over(atomic(word, list.request(each), done));
  }
  done.end({});
  return {};
}

Status Endpoint::atomic_by_device(const Target&, const AtomicRequest&) {
  return Status::error(Code::unsupported, "no RDMA device reaches the peer's memory");
}

Result<std::unique_ptr<Segment>> MemoryTransport::attach(Team&, void*, std::size_t,
                                                         const RegionOptions&) {
  return Status::error(Code::unsupported,
                       "this transport cannot make existing memory remotely accessible")
      .hint("allocate the region instead, and copy");
}

Result<std::unique_ptr<Segment>> DataTransport::allocate_over(MemoryTransport& memory, Team& team,
                                                              const MemoryRequest& request,
                                                              const RegionOptions& options) {
  return request.is_attached ? memory.attach(team, request.attached, request.bytes, options)
                             : memory.allocate(team, request.bytes, options);
}

Result<Endpoint*> DataTransport::atomics_by_device(WorldRank peer) {
  return Status::error_at(peer, Code::unsupported, "this transport uses no RDMA devices");
}

std::unique_ptr<detail::NodeControlChannel> Transport::control_channel() {
  return nullptr;
}

}  // namespace tessera::rma
