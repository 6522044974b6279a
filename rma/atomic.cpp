// SPDX-License-Identifier: BSD-3-Clause
#include "rma/atomic.hpp"

#include <fmt/format.h>

#include <atomic>
#include <optional>

#include "rma/engine/job_state.hpp"
#include "rma/engine/named.hpp"
#include "rma/engine/slice_cache.hpp"
#include "rma/kernels/words.hpp"
#include "rma/protocol/direct.hpp"
#include "rma/protocol/locate.hpp"
#include "rma/protocol/raw_address.hpp"
#include "rma/protocol/route.hpp"

namespace tessera::rma {
namespace {

using detail::JobState;
using detail::RegionState;

// For regions with other atomics, unequal slices or other transports, and for all errors.
Status atomic_general(JobState& job, const RemoteAddress& at, const AtomicRequest& request) {
  job.observers().report_atomic(at);
  if (at.offset % static_cast<std::uint64_t>(request.bytes) != 0) {
    return Status::error(Code::invalid_argument,
                         fmt::format("atomic operation on {} bytes at offset {}, which is not "
                                     "aligned to them",
                                     request.bytes, at.offset));
  }
  TESSERA_ASSIGN_OR_RETURN(const detail::Located located,
                           locate(job, Op::atomic, at, {0, request.bytes}));
  RegionState& region = *located.region;
  const auto bytes = static_cast<std::uint64_t>(request.bytes);
  const bool is_by_device = region.atomics() == Atomics::device;
  job.slices().counters().add(at.rank, at.region, Op::atomic, {1, bytes});
  const bool is_inline = located.slice != nullptr && !is_by_device;
  const detail::WaitScope wait(is_inline ? nullptr : job.recorder(), detail::Wait::atomic, at.rank,
                               bytes);
  if (is_by_device) {
    return detail::atomic_by_device(job, {&region.segment(), located.member, at.offset, at.region},
                                    at.rank, request);
  }
  if (located.slice == nullptr) {
    TESSERA_ASSIGN_OR_RETURN(const detail::RemoteAccess remote,
                             find_route(job, Op::atomic, at, located));
    return atomic_remote(remote.path, remote.target, request);
  }
  std::optional<detail::RobustGuard> guard;
  if (region.options().atomics == Atomics::strict) {
    const auto stripes = job.slices().stripes().slice(at.region, at.rank);
    guard.emplace(stripes.of(at.offset), stripes.context());
  }
  request.report(detail::atomic_direct(located.slice + at.offset, request));
  return {};
}

// True if a word is aligned in a mapped slice of a region without locks, so that a processor
// instruction can do the operation. Otherwise the general path is used.
template <class T>
inline bool has_plain_word(const detail::CachedSlice* line, std::uint64_t offset) {
  return line != nullptr && line->start_for(Op::atomic, offset, sizeof(T)) != nullptr &&
         offset % sizeof(T) == 0 && line->atomics == Atomics::separate;
}

// A pointer to such a word, after counting the operation; else null.
template <class T>
inline T* plain_word(const JobState& job, const RemoteAddress& at) {
  detail::CachedSlice* const line = job.slices().cached(at.rank, at.region);
  if (!has_plain_word<T>(line, at.offset)) [[unlikely]] {
    return nullptr;
  }
  line->count(Op::atomic, sizeof(T));
  return reinterpret_cast<T*>(line->start + at.offset);
}

template <class T>
inline T* plain_word(const JobState& job, const RawAddress& at) {
  const detail::CachedLocation location = find_cached(job, at);
  if (!has_plain_word<T>(location.slice, location.offset)) [[unlikely]] {
    return nullptr;
  }
  location.slice->count(Op::atomic, sizeof(T));
  return reinterpret_cast<T*>(location.pointer);
}

Result<bool> try_cached_route(JobState& job, const RemoteAddress& at,
                              const AtomicRequest& request) {
  if (at.offset % static_cast<std::uint64_t>(request.bytes) != 0) {
    return false;
  }
  const auto now = [&](Endpoint& endpoint, const Target& target) {
    job.observers().report_atomic(at);
    return endpoint.atomic_now(target, request);
  };
  return detail::try_cached_route(job, at, {0, request.bytes}, now, Op::atomic,
                                  static_cast<std::size_t>(request.bytes));
}

template <class T>
[[gnu::noinline]] Result<T> checked_atomic(JobState& job, RemoteAddress at,
                                           AtomicRequest::Kind kind, T operand, T expected = 0) {
  std::int64_t previous = 0;
  const AtomicRequest request{.kind = kind,
                              .bytes = sizeof(T),
                              .operand = operand,
                              .expected = expected,
                              .previous = &previous};
  TESSERA_ASSIGN_OR_RETURN(const bool is_done,
                           detail::named(job, [&] { return try_cached_route(job, at, request); }));
  if (!is_done) {
    TESSERA_RETURN_IF_ERROR(detail::named(job, [&] { return atomic_general(job, at, request); }));
  }
  return static_cast<T>(previous);
}

// The same by (rank, pointer). A word of this process in no region needs only a processor
// instruction: no other rank can address it.
template <class T>
Result<T> atomic_at_pointer(Job& job, RawAddress at, AtomicRequest::Kind kind, T operand) {
  if (!is_private_memory(job.state(), at)) {
    TESSERA_ASSIGN_OR_RETURN(const RemoteAddress remote, job.translate(at.rank, at.pointer));
    return checked_atomic(job.state(), remote, kind, operand);
  }
  const std::uintptr_t address = kernels::address_of(at.pointer);
  if (address == 0 || address % sizeof(T) != 0) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{}-byte word at address {:#x}, which is {}", sizeof(T),
                                     address, address == 0 ? "null" : "not aligned to it"));
  }
  if (detail::CachedSlice* const line = job.state().slices().counting_entry(at.rank)) {
    line->count(Op::atomic, sizeof(T));
  }
  auto* const word = static_cast<std::byte*>(const_cast<void*>(at.pointer));
  return static_cast<T>(
      detail::atomic_direct(word, {.kind = kind, .bytes = sizeof(T), .operand = operand}));
}

template <class T>
[[gnu::noinline]] Result<T> checked_atomic(Job& job, RawAddress at, AtomicRequest::Kind kind,
                                           T operand) {
  const detail::CachedLocation location = find_or_fill(job.state(), at);
  if (location.slice != nullptr && location.offset < location.slice->bytes) {
    const RemoteAddress known{at.rank, location.slice->region(), location.offset};
    return checked_atomic(job.state(), known, kind, operand);
  }
  return detail::named(job.state(), [&] { return atomic_at_pointer(job, at, kind, operand); });
}

}  // namespace

template <AtomicWord T>
Result<T> fetch_add(Job& job, RemoteAddress at, T increment) {
  if (T* const word = plain_word<T>(job.state(), at)) [[likely]] {
    return std::atomic_ref<T>(*word).fetch_add(increment);
  }
  return checked_atomic(job.state(), at, AtomicRequest::Kind::fetch_add, increment);
}

template <AtomicWord T>
Result<T> swap(Job& job, RemoteAddress at, T desired) {
  if (T* const word = plain_word<T>(job.state(), at)) [[likely]] {
    return std::atomic_ref<T>(*word).exchange(desired);
  }
  return checked_atomic(job.state(), at, AtomicRequest::Kind::swap, desired);
}

template <AtomicWord T>
Result<T> compare_swap(Job& job, RemoteAddress at, T expected, T desired) {
  if (T* const word = plain_word<T>(job.state(), at)) [[likely]] {
    T seen = expected;
    std::atomic_ref<T>(*word).compare_exchange_strong(seen, desired);
    return seen;
  }
  return checked_atomic(job.state(), at, AtomicRequest::Kind::compare_swap, desired, expected);
}

template <AtomicWord T>
Result<T> fetch_add(Job& job, RawAddress at, T increment) {
  if (T* const word = plain_word<T>(job.state(), at)) [[likely]] {
    return std::atomic_ref<T>(*word).fetch_add(increment);
  }
  return checked_atomic(job, at, AtomicRequest::Kind::fetch_add, increment);
}

template <AtomicWord T>
Result<T> swap(Job& job, RawAddress at, T desired) {
  if (T* const word = plain_word<T>(job.state(), at)) [[likely]] {
    return std::atomic_ref<T>(*word).exchange(desired);
  }
  return checked_atomic(job, at, AtomicRequest::Kind::swap, desired);
}

template Result<std::int32_t> fetch_add(Job&, RawAddress, std::int32_t);
template Result<std::int64_t> fetch_add(Job&, RawAddress, std::int64_t);
template Result<std::int32_t> swap(Job&, RawAddress, std::int32_t);
template Result<std::int64_t> swap(Job&, RawAddress, std::int64_t);
template Result<std::int32_t> fetch_add(Job&, RemoteAddress, std::int32_t);
template Result<std::int64_t> fetch_add(Job&, RemoteAddress, std::int64_t);
template Result<std::int32_t> swap(Job&, RemoteAddress, std::int32_t);
template Result<std::int64_t> swap(Job&, RemoteAddress, std::int64_t);
template Result<std::int32_t> compare_swap(Job&, RemoteAddress, std::int32_t, std::int32_t);
template Result<std::int64_t> compare_swap(Job&, RemoteAddress, std::int64_t, std::int64_t);

}  // namespace tessera::rma
