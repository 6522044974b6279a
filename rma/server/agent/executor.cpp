// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/agent/executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "rma/base/rounding.hpp"
#include "rma/engine/access.hpp"
#include "rma/kernels/accumulate.hpp"
#include "rma/kernels/copy.hpp"
#include "rma/kernels/cross_memory.hpp"
#include "rma/kernels/walk.hpp"
#include "rma/protocol/direct.hpp"
#include "rma/server/wire/parts.hpp"

namespace tessera::rma::server {
namespace {

using detail::RobustGuard;
using kernels::Direction;

constexpr std::size_t max_word_bytes = 8;

CopyShape::Extent extent_of(const Pattern& pattern) noexcept {
  if (const auto* shape = std::get_if<CopyShape>(&pattern)) {
    return shape->remote_extent();
  }
  CopyShape::Extent extent;
  for (const Fragment& each : std::get<std::vector<Fragment>>(pattern)) {
    // Both values were checked to be far below 2^63 when they were decoded.
    extent.highest =
        std::max(extent.highest, static_cast<std::int64_t>(each.remote_offset + each.bytes));
  }
  return extent;
}

// Calls action(offset from the start of the request, bytes) for each run, in the order of the
// payload.
template <class Action>
void for_each_run(const Pattern& pattern, Action&& action) {
  if (const auto* shape = std::get_if<CopyShape>(&pattern)) {
    kernels::for_each_run(*shape, [&](std::int64_t, std::int64_t remote) {
      action(static_cast<std::uint64_t>(remote), shape->run_bytes);
    });
    return;
  }
  for (const Fragment& each : std::get<std::vector<Fragment>>(pattern)) {
    action(each.remote_offset, each.bytes);
  }
}

// Whether every run has at least that length.
bool all_runs_have(std::size_t least, const Pattern& pattern) noexcept {
  if (const auto* shape = std::get_if<CopyShape>(&pattern)) {
    return shape->run_bytes >= least;
  }
  const auto& fragments = std::get<std::vector<Fragment>>(pattern);
  return std::all_of(fragments.begin(), fragments.end(),
                     [&](const Fragment& each) { return each.bytes >= least; });
}

// Copies fragments of a slice that is mapped here to or from packed memory.
void copy_fragments(std::byte* start, Fragments fragments, std::byte* packed,
                    Direction direction) noexcept {
  for (const Fragment& each : fragments) {
    std::byte* const there = start + each.remote_offset;
    if (direction == Direction::to_remote) {
      kernels::copy_small(there, packed, each.bytes);
    } else {
      kernels::copy_small(packed, there, each.bytes);
    }
    packed += each.bytes;
  }
}

// The origin checks this first, so the check fails only if the origin has not yet received the
// mode.
Status check_mode(const detail::DirectorySlice& slice, const FrameHeader& header) {
  const bool adds = header.kind == Kind::accumulate;
  const bool reads = header.kind == Kind::get || header.kind == Kind::push;
  const Op op = adds ? Op::accumulate : reads ? Op::get : Op::put;
  if (header.kind == Kind::locate || detail::allows(slice.access_mode, op)) {
    return {};
  }
  return detail::forbidden(fmt::format("{} on rank {}'s slice of region {}", to_string(header.kind),
                                       slice.owner.value, header.region.value),
                           slice.access_mode)
      .at(slice.owner);
}

}  // namespace

Result<SliceLocation> Executor::find(const FrameHeader& header, const Pattern& pattern) const {
  const auto slice = directory_.find(header.region, header.target);
  return slice ? location_in(*slice, header, pattern) : Result<SliceLocation>(no_slice(header));
}

Status Executor::no_slice(const FrameHeader& header) {
  return Status::error_at(
      header.target, Code::closed,
      fmt::format("rank {} has no slice of region {}: it was freed or never created",
                  header.target.value, header.region.value));
}

Result<SliceLocation> Executor::location_in(const detail::DirectorySlice& slice,
                                            const FrameHeader& header,
                                            const Pattern& pattern) const {
  using Use = detail::DirectorySlice::Use;
  const bool is_for_this =
      slice.use == Use::transfers || (slice.use == Use::mailboxes && header.kind == Kind::get);
  if (!is_for_this) {
    return Status::error_at(header.target, Code::closed,
                            fmt::format("memory {} of rank {}'s node is not a region",
                                        header.region.value, header.target.value));
  }
  TESSERA_RETURN_IF_ERROR(check_mode(slice, header));
  const CopyShape::Extent extent = extent_of(pattern);
  // Extents are far below 2^63; a larger offset is out of range in any case.
  constexpr std::uint64_t max_offset = std::uint64_t{1} << 62U;
  const auto offset = static_cast<std::int64_t>(std::min(header.offset, max_offset));
  const std::int64_t lowest = offset + extent.lowest;
  const std::int64_t highest = offset + extent.highest;
  if (lowest < 0 || highest > static_cast<std::int64_t>(slice.bytes)) {
    return Status::error_at(
        header.target, Code::out_of_range,
        fmt::format("{} of bytes [{}, {}) at rank {}, whose slice of region {} has {}",
                    to_string(header.kind), lowest, highest, header.target.value,
                    header.region.value, slice.bytes));
  }
  std::byte* const start = slice.process == 0 ? node_.arena().at(slice.location) : nullptr;
  return SliceLocation{header.region, slice, header.offset, start};
}

Status Executor::check_mail(const detail::DirectorySlice& slice, const FrameHeader& header) {
  constexpr std::size_t flag_bytes = sizeof(std::uint64_t);
  const std::uint64_t flag_at = header.words[0];
  const bool fits =
      slice.use == detail::DirectorySlice::Use::mailboxes && header.payload_bytes <= slice.bytes &&
      header.offset <= slice.bytes - header.payload_bytes && slice.bytes >= flag_bytes &&
      flag_at <= slice.bytes - flag_bytes && flag_at % flag_bytes == 0;
  return fits ? Status()
              : Status::error(Code::out_of_range,
                              fmt::format("delivery of {} bytes to {} with a flag at {} of memory "
                                          "{}, which has {}",
                                          header.payload_bytes, header.offset, flag_at,
                                          header.region.value, slice.bytes));
}

Status Executor::no_mail(const FrameHeader& header) {
  return Status::error(Code::closed, fmt::format("memory {} is no longer published on this node",
                                                 header.region.value));
}

bool Executor::is_long(const Pattern& pattern) noexcept {
  return all_runs_have(min_piece_bytes, pattern);
}

bool Executor::goes_direct(const Pattern& pattern) const noexcept {
  return all_runs_have(limits_.min_direct_row, pattern) || total_bytes(pattern) > max_packed_bytes;
}

bool Executor::pieces_of(const SliceLocation& location, const Pattern& pattern,
                         std::vector<iovec>& pieces) const {
  if (location.start == nullptr || !goes_direct(pattern)) {
    return false;
  }
  for_each_run(pattern, [&](std::uint64_t offset, std::size_t bytes) {
    // Offsets may be negative numbers stored as unsigned ones; only the sum is inside the slice.
    pieces.push_back({location.start + (location.offset + offset), bytes});
  });
  return true;
}

Status Executor::put(const SliceLocation& location, const Pattern& pattern,
                     const std::byte* packed) const {
  return copy_pattern(location, pattern, const_cast<std::byte*>(packed), Direction::to_remote);
}

Status Executor::get(const SliceLocation& location, const Pattern& pattern,
                     std::byte* packed) const {
  return copy_pattern(location, pattern, packed, Direction::from_remote);
}

Status Executor::copy_pattern(const SliceLocation& location, const Pattern& pattern,
                              std::byte* packed, Direction direction) const {
  if (const auto* shape = std::get_if<CopyShape>(&pattern)) {
    return copy(location, *shape, location.offset, packed, direction);
  }
  const auto& fragments = std::get<std::vector<Fragment>>(pattern);
  if (location.start != nullptr) {
    copy_fragments(location.start + location.offset, fragments, packed, direction);
    return {};
  }
  Status first;
  for (const Fragment& each : fragments) {
    Status status = copy(location, CopyShape::contiguous(each.bytes),
                         location.offset + each.remote_offset, packed, direction);
    first = first.ok() ? std::move(status) : std::move(first);
    packed += each.bytes;
  }
  return first;
}

Status Executor::copy(const SliceLocation& location, const CopyShape& shape, std::uint64_t offset,
                      std::byte* packed, Direction direction) const {
  if (kernels::is_empty(shape)) {
    return {};
  }
  if (location.start != nullptr) {
    kernels::copy_shape(packed, location.start + offset, shape, direction);
    return {};
  }
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of another process
  auto* const remote = reinterpret_cast<std::byte*>(location.slice.location + offset);
  const WorldRank owner = location.slice.owner;
  const int owner_local_rank = node_.local_rank_of(owner);
  // As same-node ranks do: the number of a process that ended may belong to another process now,
  if (node_.has_ended(owner_local_rank)) {
    return Status::error_at(
        owner, Code::peer_lost,
        fmt::format("rank {} died, and the memory that it attached with it", owner.value));
  }
  if (shape.run_bytes > max_word_bytes) {
    return kernels::copy_across(location.slice.process, packed, remote, shape, direction).at(owner);
  }
  // and the kernel copies bytes and not words.
  const RobustGuard guard(node_.memory().record(owner_local_rank).attached_lock,
                          node_.lock_context());
  return kernels::copy_across(location.slice.process, packed, remote, shape, direction).at(owner);
}

Status Executor::accumulate(const SliceLocation& location, const AccumulateTerms& terms,
                            const std::byte* packed) const {
  if (location.start != nullptr) {
    accumulate_mapped(location, terms, packed);
    return {};
  }
  Status first;
  for_each_run(terms.pattern, [&](std::uint64_t offset, std::size_t bytes) {
    if (first.ok()) {
      first =
          accumulate_through_kernel(location, location.offset + offset, packed, bytes, terms.scale);
    }
    packed += bytes;
  });
  return first;
}

// In the same way as same-node ranks.
void Executor::accumulate_mapped(const SliceLocation& location, const AccumulateTerms& terms,
                                 const std::byte* packed) const {
  const detail::StripeLocks::Slice locks = location.slice.conflicts == Conflicts::possible
                                               ? stripes(location)
                                               : stripes(location).without_locks();
  if (const auto* shape = std::get_if<CopyShape>(&terms.pattern)) {
    if (!kernels::is_empty(*shape)) {
      detail::accumulate_direct(location.start, location.offset, packed, shape->normalised(),
                                terms.scale, locks);
    }
    return;
  }
  std::vector<Fragment> fragments = std::get<std::vector<Fragment>>(terms.pattern);
  for (Fragment& each : fragments) {
    each.local = const_cast<std::byte*>(packed);
    packed += each.bytes;
  }
  detail::accumulate_fragments_direct(location.start, location.offset, fragments, terms.scale,
                                      locks);
}

Status Executor::accumulate_through_kernel(const SliceLocation& location, std::uint64_t offset,
                                           const std::byte* packed, std::size_t bytes,
                                           const Scale& scale) const {
  // Fetched, changed and stored under the stripe's lock, in the same way as same-node ranks.
  constexpr std::size_t piece_bytes = 4096;
  alignas(16) std::array<std::byte, piece_bytes + 16> buffer;
  const std::size_t element = size_of(scale.type());
  for (std::size_t done = 0; done < bytes;) {
    const std::uint64_t at = offset + done;
    const std::size_t whole = round_up(piece_bytes - at % piece_bytes, element);
    const std::size_t step = std::min(whole, bytes - done);
    const CopyShape piece = CopyShape::contiguous(step);
    const RobustGuard guard(stripes(location).of(at), node_.lock_context());
    TESSERA_RETURN_IF_ERROR(copy(location, piece, at, buffer.data(), Direction::from_remote));
    kernels::accumulate_run(buffer.data(), packed + done, step, scale);
    TESSERA_RETURN_IF_ERROR(copy(location, piece, at, buffer.data(), Direction::to_remote));
    done += step;
  }
  return {};
}

Result<std::int64_t> Executor::atomic(const SliceLocation& location, const AtomicTerms& terms,
                                      std::int64_t operand, std::int64_t expected) const {
  if (location.offset % static_cast<std::uint64_t>(terms.bytes) != 0) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{}-byte word at offset {}, which is not aligned to it",
                                     terms.bytes, location.offset));
  }
  if (location.slice.device_atomics) {
    return Status::error_at(location.slice.owner, Code::unsupported,
                            fmt::format("atomic operations in region {} are done by this node's "
                                        "device only, and the peer has no path to it",
                                        location.region.value));
  }
  std::int64_t previous = 0;
  const AtomicRequest request{.kind = terms.kind,
                              .bytes = terms.bytes,
                              .operand = operand,
                              .expected = expected,
                              .previous = &previous};
  if (location.start != nullptr && !location.slice.strict) {
    return detail::atomic_direct(location.start + location.offset, request);
  }
  const RobustGuard guard(stripes(location).of(location.offset), node_.lock_context());
  if (location.start != nullptr) {
    return detail::atomic_direct(location.start + location.offset, request);
  }
  alignas(8) std::array<std::byte, max_word_bytes> word{};
  const CopyShape whole = CopyShape::contiguous(static_cast<std::size_t>(terms.bytes));
  TESSERA_RETURN_IF_ERROR(
      copy(location, whole, location.offset, word.data(), Direction::from_remote));
  previous = detail::atomic_direct(word.data(), request);
  TESSERA_RETURN_IF_ERROR(
      copy(location, whole, location.offset, word.data(), Direction::to_remote));
  return previous;
}

}  // namespace tessera::rma::server
