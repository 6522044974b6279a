// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/verbs/endpoint.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <utility>

#include "rma/kernels/copy.hpp"
#include "rma/kernels/walk.hpp"
#include "rma/transport/verbs/work_request_batch.hpp"

namespace tessera::rma::verbs {
namespace {

// After unfenced requests, a transfer longer than this is worth the round trip of a fence.
constexpr std::size_t max_after_requests = std::size_t{64} * 1024;
// A put of up to this size is copied, so that its source is free at once.
constexpr std::size_t max_copied = std::size_t{4} * 1024;
// Slice locations that are cached; beyond that, all are requested again.
constexpr std::size_t max_locations = 1024;

bool holds(std::uint64_t offset, std::uint64_t from, std::uint64_t bytes) noexcept {
  return offset >= from && offset - from < bytes;
}

// A request for one piece, which must outlive it.
ibv_send_wr request_for(ibv_wr_opcode opcode, ibv_sge& piece,
                        const detail::RemoteSpan& remote) noexcept {
  ibv_send_wr request{};
  request.sg_list = &piece;
  request.num_sge = 1;
  request.opcode = opcode;
  request.wr.rdma = {remote.address, static_cast<std::uint32_t>(remote.key)};
  return request;
}

std::size_t find_min_row(const Adapter& adapter) {
  return adapter.options.min_row > 0 ? adapter.options.min_row : adapter.costs().min_row();
}

// Gets of at least this size are assisted.
std::size_t find_min_assisted(const Adapter& adapter) {
  constexpr std::size_t min_bytes = max_copied;
  constexpr std::size_t max_bytes = std::size_t{16} << 20U;
  if (adapter.options.get_protocol == GetProtocol::assisted) {
    return min_bytes;
  }
  std::size_t bytes = SIZE_MAX;
  if (adapter.options.get_protocol == GetProtocol::by_cost) {
    for (std::size_t each = max_bytes; each >= min_bytes && adapter.costs().prefers_assisted(each);
         each /= 2) {
      bytes = each;
    }
  }
  return bytes;
}

}  // namespace

std::uint32_t max_pieces(const DeviceLimits& limits) noexcept {
  constexpr std::uint32_t enough = 16;
  return std::min(limits.max_send_sge, enough);
}

VerbsEndpoint::VerbsEndpoint(VerbsConnection& connection, WorldRank peer,
                             std::unique_ptr<Endpoint> by_requests,
                             detail::Requests& requests) noexcept
    : connection_(connection),
      options_(connection.context().adapter().options),
      min_row_(find_min_row(connection.context().adapter())),
      min_assisted_(find_min_assisted(connection.context().adapter())),
      peer_(peer),
      by_requests_(std::move(by_requests)),
      requests_(requests) {}

// Ends the caller's own part of `done`, with the first error, unless nothing else was begun.
Status VerbsEndpoint::conclude(Status status, bool has_begun, Completion& done) {
  if (!status.ok() && !has_begun) {
    return status;
  }
  done.end(std::move(status));
  return {};
}

// --- locations of memory

std::optional<VerbsEndpoint::ReachableSpan> VerbsEndpoint::find_cached(RegionId region,
                                                                       std::uint64_t offset) {
  const std::lock_guard guard(locations_mutex_);
  for (const Piece& piece : locations_[region.value]) {
    if (piece.span.bytes == 0) {
      return ReachableSpan();
    }
    if (holds(offset, piece.offset, piece.span.bytes)) {
      const std::uint64_t into = offset - piece.offset;
      return ReachableSpan(
          detail::RemoteSpan{piece.span.address + into, piece.span.bytes - into, piece.span.key});
    }
  }
  return std::nullopt;
}

Result<VerbsEndpoint::ReachableSpan> VerbsEndpoint::request_location(
    RegionId region, std::uint64_t offset, const std::function<void()>& meanwhile) {
  auto span = requests_.locate(peer_, region, offset, meanwhile);
  if (!span.ok() && span.status().code() != Code::unsupported) {
    return std::move(span).status();
  }
  const bool is_direct = span.ok() && span->bytes > 0;
  const std::lock_guard guard(locations_mutex_);
  if (locations_.size() > max_locations) {
    locations_.clear();
  }
  locations_[region.value].push_back({offset, is_direct ? *span : detail::RemoteSpan()});
  return is_direct ? ReachableSpan(*span) : ReachableSpan();
}

Result<VerbsEndpoint::ReachableSpan> VerbsEndpoint::find(RegionId region, std::uint64_t offset) {
  if (auto known = find_cached(region, offset)) {
    return *known;
  }
  return request_location(region, offset, [] {});
}

bool VerbsEndpoint::goes_as_words(std::size_t bytes) const noexcept {
  return !options_.words_by_device && bytes <= sizeof(std::uint64_t);
}

// Whether the device may access the target's memory now, given the earlier requests.
Result<bool> VerbsEndpoint::may_go_direct(const Target& target, std::size_t bytes) {
  if (bytes == 0 || goes_as_words(bytes)) {
    return false;
  }
  if (!requests_.is_fenced(peer_, target.region)) {
    if (bytes <= max_after_requests) {
      return false;
    }
    TESSERA_RETURN_IF_ERROR(by_requests_->fence());
  }
  return true;
}

// Nothing if the device cannot use it: it then goes through buffers.
std::optional<VerbsEndpoint::Local> VerbsEndpoint::find_local(Direction direction, std::byte* at,
                                                              std::size_t bytes) const {
  const Adapter& adapter = connection_.context().adapter();
  if (adapter.arena->is_in_arena(at)) {
    const auto known = adapter.arena->find(at, bytes);
    return known.ok() ? std::optional(Local{.key = known->local_key,
                                            .remote_key = known->remote_key,
                                            .bytes = known->bytes,
                                            .held = nullptr})
                      : std::nullopt;
  }
  if (!options_.registers) {
    return std::nullopt;
  }
  auto registration = adapter.registrar->acquire(
      at, bytes, direction == Direction::to_remote ? Use::source : Use::destination);
  if (!registration.ok()) {
    return std::nullopt;
  }
  const auto held = std::make_shared<const Registration>(std::move(registration).take());
  return Local{.key = held->lkey(), .remote_key = held->rkey(), .bytes = bytes, .held = held};
}

// Its first part: what is registered at once, so that it moves while the next part is registered
// ([CLUSTERS02] §3, figure 3).
std::optional<VerbsEndpoint::Local> VerbsEndpoint::find_first_part(Direction direction,
                                                                   std::byte* at,
                                                                   std::size_t bytes) const {
  const std::size_t part = options_.register_bytes;
  if (part == 0) {
    return find_local(direction, at, bytes);
  }
  const std::size_t into = reinterpret_cast<std::uintptr_t>(at) % part;
  return find_local(direction, at, std::min(bytes, part - into));
}

// Whether it is copied through a buffer, instead of moved directly.
bool VerbsEndpoint::is_copied(Direction direction, const std::byte* at,
                              std::size_t bytes) const noexcept {
  const Adapter& adapter = connection_.context().adapter();
  if (direction == Direction::to_remote && bytes <= max_copied) {
    return true;
  }
  if (adapter.arena->is_in_arena(at)) {
    return false;
  }
  return bytes <= max_copied / 4 ||
         (!adapter.registrar->is_caching() && adapter.costs().prefers_copy(bytes));
}

// --- contiguous

Result<bool> VerbsEndpoint::put_now(const Target& to, const void* from, std::size_t bytes) {
  if (bytes > connection_.max_inline()) {
    return false;
  }
  TESSERA_ASSIGN_OR_RETURN(const bool is_direct, may_go_direct(to, bytes));
  if (!is_direct) {
    return by_requests_->put_now(to, from, bytes);
  }
  TESSERA_ASSIGN_OR_RETURN(const auto remote, find(to.region, to.offset));
  if (!remote || remote->bytes < bytes) {
    return false;
  }
  TESSERA_RETURN_IF_ERROR(put_inline(*remote, static_cast<const std::byte*>(from), bytes));
  return true;
}

Status VerbsEndpoint::put(const Target& to, const void* from, const CopyShape& shape,
                          Completion& done) {
  // A put reads its local memory, and does not change it.
  auto* const local = static_cast<std::byte*>(const_cast<void*>(from));
  TESSERA_ASSIGN_OR_RETURN(const bool is_direct, may_go_direct(to, shape.total_bytes()));
  if (is_direct && shape.levels == 0) {
    return move(Direction::to_remote, to, local, shape.run_bytes, done);
  }
  if (is_direct) {
    TESSERA_ASSIGN_OR_RETURN(const bool is_moved,
                             move_shape(Direction::to_remote, to, local, shape, done));
    if (is_moved) {
      return {};
    }
  }
  return by_requests_->put(to, from, shape, done);
}

Status VerbsEndpoint::get(void* to, const Target& from, const CopyShape& shape, Completion& done) {
  auto* const local = static_cast<std::byte*>(to);
  TESSERA_ASSIGN_OR_RETURN(const bool is_requested, get_assisted(local, from, shape, done));
  if (is_requested) {
    return {};
  }
  TESSERA_ASSIGN_OR_RETURN(const bool is_direct, may_go_direct(from, shape.total_bytes()));
  if (is_direct && shape.levels == 0) {
    return move(Direction::from_remote, from, local, shape.run_bytes, done);
  }
  if (is_direct) {
    TESSERA_ASSIGN_OR_RETURN(const bool is_moved,
                             move_shape(Direction::from_remote, from, local, shape, done));
    if (is_moved) {
      return {};
    }
  }
  return by_requests_->get(to, from, shape, done);
}

// Registering overlaps with the request for the target's location ([CLUSTERS02] §3).
Result<VerbsEndpoint::ReachableSpan> VerbsEndpoint::find_and_prepare(const Target& target,
                                                                     std::size_t moved,
                                                                     const Run& run) {
  if (auto known = find_cached(target.region, target.offset + moved)) {
    return *known;
  }
  return request_location(target.region, target.offset + moved, [&] {
    if (connection_.context().adapter().registrar->is_caching() &&
        !is_copied(run.direction, run.local + moved, run.bytes - moved)) {
      static_cast<void>(find_first_part(run.direction, run.local + moved, run.bytes - moved));
    }
  });
}

// The part that the device cannot reach goes as requests; the rest of that slice may have been
// registered needlessly.
Status VerbsEndpoint::move(Direction direction, const Target& target, std::byte* local,
                           std::size_t bytes, Completion& done) {
  std::size_t moved = 0;
  Status status;
  while (moved < bytes && status.ok()) {
    const auto remote =
        find_and_prepare(target, moved, {.direction = direction, .local = local, .bytes = bytes});
    if (remote.ok() && !*remote) {
      Target rest = target;
      rest.offset += moved;
      const CopyShape shape = CopyShape::contiguous(bytes - moved);
      status = direction == Direction::to_remote
                   ? by_requests_->put(rest, local + moved, shape, done)
                   : by_requests_->get(local + moved, rest, shape, done);
      return status.ok() ? Status() : conclude(std::move(status), moved > 0, done);
    }
    if (!remote.ok()) {
      status = remote.status();
      break;
    }
    const auto piece = move_piece(direction, **remote, local + moved, bytes - moved, done);
    status = piece.status();
    moved += piece.ok() ? *piece : 0;
  }
  return conclude(std::move(status), moved > 0, done);
}

// Begins with the part that fits in one request, and returns its size.
Result<std::size_t> VerbsEndpoint::move_piece(Direction direction, const detail::RemoteSpan& remote,
                                              std::byte* local, std::size_t bytes,
                                              Completion& done) {
  const std::size_t buffer_bytes = connection_.context().buffers().bytes();
  const std::size_t possible = std::min<std::size_t>(
      {bytes, remote.bytes, connection_.context().device()->limits().max_message});
  if (direction == Direction::to_remote && possible <= connection_.max_inline()) {
    TESSERA_RETURN_IF_ERROR(put_inline(remote, local, possible));
    return possible;
  }
  std::optional<Local> known = is_copied(direction, local, possible)
                                   ? std::nullopt
                                   : find_first_part(direction, local, possible);
  if (!known) {
    const std::size_t here = std::min(possible, buffer_bytes);
    TESSERA_RETURN_IF_ERROR(move_by_buffer(direction, remote, local, here, done));
    return here;
  }
  const std::size_t here = std::min(possible, known->bytes);
  TESSERA_RETURN_IF_ERROR(move_in_place(direction, remote, local, here, std::move(*known), done));
  return here;
}

Status VerbsEndpoint::put_inline(const detail::RemoteSpan& remote, const std::byte* from,
                                 std::size_t bytes) {
  ibv_sge piece{reinterpret_cast<std::uintptr_t>(from), static_cast<std::uint32_t>(bytes), 0};
  ibv_send_wr request = request_for(IBV_WR_RDMA_WRITE, piece, remote);
  request.send_flags = IBV_SEND_INLINE;
  return post(Direction::to_remote, &request, 1, {});
}

Status VerbsEndpoint::move_in_place(Direction direction, const detail::RemoteSpan& remote,
                                    std::byte* local, std::size_t bytes, Local known,
                                    Completion& done) {
  ibv_sge piece{reinterpret_cast<std::uintptr_t>(local), static_cast<std::uint32_t>(bytes),
                known.key};
  ibv_send_wr request = request_for(
      direction == Direction::to_remote ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ, piece, remote);
  done.begin();
  Status status = post(direction, &request, 1, {.done = &done, .held = std::move(known.held)});
  if (!status.ok()) {
    done.end(status);
  }
  return status;
}

Status VerbsEndpoint::move_by_buffer(Direction direction, const detail::RemoteSpan& remote,
                                     std::byte* local, std::size_t bytes, Completion& done) {
  TESSERA_ASSIGN_OR_RETURN(const int buffer, take_buffer());
  RegisteredBufferPool& buffers = connection_.context().buffers();
  ibv_sge piece{reinterpret_cast<std::uintptr_t>(buffers.at(buffer)),
                static_cast<std::uint32_t>(bytes), buffers.key()};
  ibv_send_wr request = request_for(
      direction == Direction::to_remote ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ, piece, remote);
  OnCompletion on_completion{.buffer = buffer};
  if (direction == Direction::to_remote) {
    kernels::copy_small(buffers.at(buffer), local, bytes);
  } else {
    on_completion.done = &done;
    on_completion.copy_to = local;
    on_completion.copy_bytes = bytes;
    done.begin();
  }
  Status status = post(direction, &request, 1, on_completion);
  if (!status.ok()) {
    buffers.give_back(buffer);
    if (direction == Direction::from_remote) {
      done.end(status);
    }
  }
  return status;
}

// Waits while all are in use.
Result<int> VerbsEndpoint::take_buffer() {
  while (true) {
    const int buffer = connection_.context().buffers().take();
    if (buffer >= 0) {
      return buffer;
    }
    TESSERA_RETURN_IF_ERROR(requests_.loss());
    requests_.wait_briefly();
  }
}

// Waits while too much is under way.
Status VerbsEndpoint::post(Direction direction, ibv_send_wr* first, std::uint32_t count,
                           const OnCompletion& on_completion) {
  while (true) {
    const auto number = connection_.post(first, count, on_completion);
    if (!number.ok()) {
      return requests_.loss_of(number.status());
    }
    if (*number > 0) {
      if (direction == Direction::to_remote) {
        record_write(*number);
        connection_.record_write(*number);
      }
      return {};
    }
    requests_.wait_briefly();
  }
}

// --- rows

VerbsEndpoint::TransferRows VerbsEndpoint::rows_of(const Target& target, std::byte* local,
                                                   const CopyShape& shape) {
  const CopyShape::Extent here = shape.local_extent();
  const CopyShape::Extent there = shape.remote_extent();
  TransferRows rows;
  rows.local = {.from = local + here.lowest,
                .span_bytes = static_cast<std::size_t>(here.highest - here.lowest),
                .bytes = shape.total_bytes(),
                .count = static_cast<std::size_t>(shape.runs()),
                .for_each = {}};
  rows.offset = target.offset + static_cast<std::uint64_t>(there.lowest);
  rows.bytes = static_cast<std::uint64_t>(there.highest - there.lowest);
  rows.for_each = [=, &shape](const VisitRow& visit) {
    Status status;
    kernels::for_each_run(shape, [&](std::int64_t at, std::int64_t remote) {
      if (status.ok()) {
        status =
            visit(local + at, target.offset + static_cast<std::uint64_t>(remote), shape.run_bytes);
      }
    });
    return status;
  };
  return rows;
}

VerbsEndpoint::TransferRows VerbsEndpoint::rows_of(const Target& target, Fragments fragments) {
  std::byte* lowest = static_cast<std::byte*>(fragments[0].local);
  std::byte* highest = lowest;
  std::uint64_t first = fragments[0].remote_offset;
  std::uint64_t end = first;
  for (const Fragment& each : fragments) {
    auto* const local = static_cast<std::byte*>(each.local);
    lowest = std::min(lowest, local, std::less<>());
    highest = std::max(highest, local + each.bytes, std::less<>());
    first = std::min(first, each.remote_offset);
    end = std::max(end, each.remote_offset + each.bytes);
  }
  TransferRows rows;
  rows.local = {.from = lowest,
                .span_bytes = static_cast<std::size_t>(highest - lowest),
                .bytes = total_bytes(fragments),
                .count = fragments.size(),
                .for_each = {}};
  rows.offset = target.offset + first;
  rows.bytes = end - first;
  rows.for_each = [=](const VisitRow& visit) {
    for (const Fragment& each : fragments) {
      TESSERA_RETURN_IF_ERROR(visit(static_cast<std::byte*>(each.local),
                                    target.offset + each.remote_offset, each.bytes));
    }
    return Status();
  };
  return rows;
}

// The registered local memory and target location for a transfer of such rows; nothing if it should
// go as requests.
Result<std::optional<VerbsEndpoint::RegisteredRange>> VerbsEndpoint::find_registered_range(
    Direction direction, RegionId region, const TransferRows& rows) {
  TESSERA_ASSIGN_OR_RETURN(const auto remote, find(region, rows.offset));
  if (!remote || remote->bytes < rows.bytes) {
    return std::optional<RegisteredRange>();
  }
  LocalRows local = rows.local;
  local.for_each = [&](const auto& visit) {
    rows.for_each([&](std::byte* at, std::uint64_t /*remote*/, std::size_t bytes) {
          visit(at, bytes);
          return Status();
        })
        .ignore("none of them fails");
  };
  auto ranges =
      find_local_ranges(connection_.context().adapter(),
                        direction == Direction::to_remote ? Use::source : Use::destination, local);
  return ranges == nullptr ? std::optional<RegisteredRange>()
                           : std::optional(RegisteredRange{*remote, std::move(ranges)});
}

// Returns true if it has begun the transfer, false if it should go as requests.
Result<bool> VerbsEndpoint::move_rows(Direction direction, RegionId region,
                                      const TransferRows& rows, Completion& done) {
  TESSERA_ASSIGN_OR_RETURN(const auto registered, find_registered_range(direction, region, rows));
  if (!registered) {
    return false;
  }
  const DeviceLimits& limits = connection_.context().device()->limits();
  bool has_begun = false;
  WorkRequestBatch requests(
      {.opcode = direction == Direction::to_remote ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ,
       .remote = registered->remote,
       .max_pieces = max_pieces(limits),
       .max_bytes = limits.max_message},
      [&](ibv_send_wr* first, std::uint32_t count) {
        done.begin();
        Status status = post(direction, first, count, {.done = &done, .held = registered->local});
        has_begun = has_begun || status.ok();
        if (!status.ok()) {
          done.end(status);
        }
        return status;
      });
  Status status =
      rows.for_each([&](std::byte* at, std::uint64_t offset, std::size_t bytes) -> Status {
        while (bytes > 0) {
          const LocalRange& range = range_at(*registered->local, at);
          const auto here = std::min(bytes, static_cast<std::size_t>(range.end - at));
          TESSERA_RETURN_IF_ERROR(
              requests.add(at, range.key, static_cast<std::int64_t>(offset - rows.offset), here));
          at += here;
          offset += here;
          bytes -= here;
        }
        return {};
      });
  status = status.ok() ? requests.finish() : std::move(status);
  TESSERA_RETURN_IF_ERROR(conclude(std::move(status), has_begun, done));
  return true;
}

Result<bool> VerbsEndpoint::move_shape(Direction direction, const Target& target, std::byte* local,
                                       const CopyShape& shape, Completion& done) {
  return shape.run_bytes < min_row_
             ? Result<bool>(false)
             : move_rows(direction, target.region, rows_of(target, local, shape), done);
}

Result<bool> VerbsEndpoint::move_fragments(Direction direction, const Target& target,
                                           Fragments fragments, Completion& done) {
  const bool are_long = std::all_of(fragments.begin(), fragments.end(),
                                    [&](const Fragment& each) { return each.bytes >= min_row_; });
  return !are_long || fragments.empty()
             ? Result<bool>(false)
             : move_rows(direction, target.region, rows_of(target, fragments), done);
}

// --- operations that go as requests

Status VerbsEndpoint::accumulate(const Target& to, const void* from, const CopyShape& shape,
                                 const Scale& scale, Completion& done) {
  return by_requests_->accumulate(to, from, shape, scale, done);
}

Status VerbsEndpoint::atomic(const Target& at, const AtomicRequest& request, Completion& done) {
  return by_requests_->atomic(at, request, done);
}

Status VerbsEndpoint::atomic_list(const Target& at, const AtomicList& list, Completion& done) {
  return by_requests_->atomic_list(at, list, done);
}

Status VerbsEndpoint::put_fragments(const Target& to, Fragments fragments, Completion& done) {
  TESSERA_ASSIGN_OR_RETURN(const bool is_direct, may_go_direct(to, total_bytes(fragments)));
  if (is_direct) {
    TESSERA_ASSIGN_OR_RETURN(const bool is_moved,
                             move_fragments(Direction::to_remote, to, fragments, done));
    if (is_moved) {
      return {};
    }
  }
  return by_requests_->put_fragments(to, fragments, done);
}

Status VerbsEndpoint::get_fragments(const Target& from, Fragments fragments, Completion& done) {
  TESSERA_ASSIGN_OR_RETURN(const bool is_direct, may_go_direct(from, total_bytes(fragments)));
  if (is_direct) {
    TESSERA_ASSIGN_OR_RETURN(const bool is_moved,
                             move_fragments(Direction::from_remote, from, fragments, done));
    if (is_moved) {
      return {};
    }
  }
  return by_requests_->get_fragments(from, fragments, done);
}

Status VerbsEndpoint::accumulate_fragments(const Target& to, Fragments fragments,
                                           const Scale& scale, Completion& done) {
  return by_requests_->accumulate_fragments(to, fragments, scale, done);
}

// --- fences

void VerbsEndpoint::record_write(std::uint64_t number) noexcept {
  std::uint64_t before = last_write_.load();
  while (before < number && !last_write_.compare_exchange_weak(before, number)) {
  }
}

bool VerbsEndpoint::is_fenced(RegionId region) const noexcept {
  return connection_.flushed() >= last_write_.load() && by_requests_->is_fenced(region);
}

Status VerbsEndpoint::start_fence(Completion& done) {
  const bool are_written = connection_.flushed() >= last_write_.load();
  const bool are_carried_out = by_requests_->is_fenced(any_region);
  if (are_written) {
    if (are_carried_out) {
      done.end({});
      return {};
    }
    return by_requests_->start_fence(done);
  }
  if (are_carried_out) {
    return connection_.start_flush(requests_, done);
  }
  done.begin();
  Status flushed = connection_.start_flush(requests_, done);
  if (!flushed.ok()) {
    done.end(flushed);
  }
  Status fenced = by_requests_->start_fence(done);
  if (!fenced.ok()) {
    done.end(std::move(fenced));
  }
  return {};
}

Status VerbsEndpoint::fence() {
  if (is_fenced(any_region)) {
    return {};
  }
  Completion done;
  done.begin();
  TESSERA_RETURN_IF_ERROR(start_fence(done));
  requests_.wait(done);
  return done.take_error();
}

}  // namespace tessera::rma::verbs
