// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/verbs/arena_registrations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include "rma/base/memory.hpp"
#include "rma/base/rounding.hpp"

namespace tessera::rma::verbs {

ArenaRegistrations::ArenaRegistrations(Registrar& registrar,
                                       std::shared_ptr<detail::ReachableMemory> arena,
                                       std::uint64_t slab_bytes, bool has_atomics) noexcept
    : registrar_(registrar),
      arena_(std::move(arena)),
      slab_bytes_(slab_bytes),
      access_(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
              (has_atomics ? IBV_ACCESS_REMOTE_ATOMIC : 0)) {}

bool ArenaRegistrations::is_in_arena(const std::byte* at) const noexcept {
  const std::span<const std::byte> arena = arena_->bytes();
  return at >= arena.data() && at < arena.data() + arena.size();
}

// Requires: mutex_ is locked, at least shared.
const ArenaRegistrations::Range* ArenaRegistrations::range_at(const std::byte* at) const noexcept {
  const auto next = std::upper_bound(
      ranges_.begin(), ranges_.end(), at,
      [](const std::byte* address, const Range& range) { return address < range.from; });
  return next != ranges_.begin() && at < std::prev(next)->end ? &*std::prev(next) : nullptr;
}

RegisteredSpan ArenaRegistrations::span_in(const Range& range, std::byte* from,
                                           std::uint64_t bytes) noexcept {
  const auto left = static_cast<std::uint64_t>(range.end - from);
  return {from, std::min(bytes, left), range.registration.lkey(), range.registration.rkey()};
}

Result<RegisteredSpan> ArenaRegistrations::find(std::byte* from, std::uint64_t bytes) {
  {
    const std::shared_lock guard(mutex_);
    if (const Range* const range = range_at(from)) {
      return span_in(*range, from, bytes);
    }
    TESSERA_RETURN_IF_ERROR(Status(first_error_));
  }
  const std::lock_guard guard(mutex_);
  if (range_at(from) == nullptr) {
    TESSERA_RETURN_IF_ERROR(add_range(from, bytes));
  }
  return span_in(*range_at(from), from, bytes);
}

// Registers the slabs of `bytes` from `from` on, up to the first registered one.
Status ArenaRegistrations::add_range(std::byte* from, std::uint64_t bytes) {
  const std::span<std::byte> arena = arena_->bytes();
  const auto offset = static_cast<std::uint64_t>(from - arena.data());
  const auto next = std::find_if(ranges_.begin(), ranges_.end(),
                                 [&](const Range& range) { return range.from > from; });
  const std::uint64_t first = offset / slab_bytes_ * slab_bytes_;
  const std::uint64_t limit =
      next == ranges_.end() ? arena.size() : static_cast<std::uint64_t>(next->from - arena.data());
  const std::uint64_t end = std::min(round_up(offset + bytes, slab_bytes_), limit);
  if (Status status = arena_->keep(arena.subspan(first, end - first)); !status.ok()) {
    return Status::error(Code::unsupported, status.message());
  }
  std::byte* const start = arena.data() + first;
  auto registration = registrar_.pin(start, end - first, access_);
  if (!registration.ok()) {
    first_error_ = Status::error(Code::unsupported, registration.status().message());
    return first_error_;
  }
  ranges_.insert(next, Range{start, arena.data() + end, std::move(*registration)});
  return {};
}

}  // namespace tessera::rma::verbs
