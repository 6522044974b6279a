// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/verbs/arena_registrations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include "rma/base/memory.hpp"

namespace tessera::rma::verbs {

ArenaRegistrations::ArenaRegistrations(Registrar& registrar, std::shared_ptr<detail::Node> node,
                                       std::uint64_t slab_bytes, bool has_atomics) noexcept
    : registrar_(registrar),
      node_(std::move(node)),
      slab_bytes_(slab_bytes),
      access_(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
              (has_atomics ? IBV_ACCESS_REMOTE_ATOMIC : 0)) {}

bool ArenaRegistrations::is_in_arena(const std::byte* at) const noexcept {
  const detail::NodeMemory& memory = node_->memory();
  const std::byte* const first = memory.base() + memory.header().arena_offset;
  return at >= first && at < memory.base() + memory.size();
}

// Requires: mutex_ is locked, at least shared.
const ArenaRegistrations::Part* ArenaRegistrations::part_at(const std::byte* at) const noexcept {
  const auto next = std::upper_bound(
      parts_.begin(), parts_.end(), at,
      [](const std::byte* address, const Part& part) { return address < part.from; });
  return next != parts_.begin() && at < std::prev(next)->end ? &*std::prev(next) : nullptr;
}

RegisteredSpan ArenaRegistrations::span_in(const Part& part, std::byte* from,
                                           std::uint64_t bytes) noexcept {
  const auto left = static_cast<std::uint64_t>(part.end - from);
  return {from, std::min(bytes, left), part.registration.lkey(), part.registration.rkey()};
}

Result<RegisteredSpan> ArenaRegistrations::find(std::byte* from, std::uint64_t bytes) {
  {
    const std::shared_lock guard(mutex_);
    if (const Part* const part = part_at(from)) {
      return span_in(*part, from, bytes);
    }
    TESSERA_RETURN_IF_ERROR(Status(refusal_));
  }
  const std::lock_guard guard(mutex_);
  if (part_at(from) == nullptr) {
    TESSERA_RETURN_IF_ERROR(add_part(from, bytes));
  }
  return span_in(*part_at(from), from, bytes);
}

// Registers the slabs of `bytes` from `from` on, up to the first registered one.
Status ArenaRegistrations::add_part(std::byte* from, std::uint64_t bytes) {
  const detail::NodeMemory& memory = node_->memory();
  const auto offset = static_cast<std::uint64_t>(from - memory.base());
  const auto next = std::find_if(parts_.begin(), parts_.end(),
                                 [&](const Part& part) { return part.from > from; });
  const std::uint64_t first =
      std::max(offset / slab_bytes_ * slab_bytes_, memory.header().arena_offset);
  const std::uint64_t limit = next == parts_.end()
                                  ? memory.size() / detail::granule_bytes * detail::granule_bytes
                                  : static_cast<std::uint64_t>(next->from - memory.base());
  const std::uint64_t end =
      std::min((offset + bytes + slab_bytes_ - 1) / slab_bytes_ * slab_bytes_, limit);
  if (Status status = node_->arena().keep(first, end - first); !status.ok()) {
    return Status::error(Code::unsupported, status.message());
  }
  std::byte* const start = memory.base() + first;
  auto registration = registrar_.pin(start, end - first, access_);
  if (!registration.ok()) {
    refusal_ = Status::error(Code::unsupported, registration.status().message());
    return refusal_;
  }
  parts_.insert(next, Part{start, memory.base() + end, std::move(*registration)});
  return {};
}

}  // namespace tessera::rma::verbs
