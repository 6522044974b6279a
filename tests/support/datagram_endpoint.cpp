// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/datagram_endpoint.hpp"

#include <algorithm>
#include <utility>

#include "rma/kernels/walk.hpp"

namespace tessera::rma::test {
namespace {

// Shorter rows are packed, as requests.
constexpr std::size_t min_row = 64;
// After unfenced requests, longer transfers fence.
constexpr std::size_t max_after_requests = 1024;

}  // namespace

Status DatagramEndpoint::put(const Target& to, const void* from, const CopyShape& shape,
                             Completion& done) {
  // A put reads its local memory, and does not change it.
  auto* const local = static_cast<std::byte*>(const_cast<void*>(from));
  TESSERA_ASSIGN_OR_RETURN(const bool is_moved, move(Direction::to_remote, to, local, shape, done));
  return is_moved ? Status() : by_requests_->put(to, from, shape, done);
}

Status DatagramEndpoint::get(void* to, const Target& from, const CopyShape& shape,
                             Completion& done) {
  TESSERA_ASSIGN_OR_RETURN(const bool is_moved, move(Direction::from_remote, from,
                                                     static_cast<std::byte*>(to), shape, done));
  return is_moved ? Status() : by_requests_->get(to, from, shape, done);
}

// Returns false if it must go as a request.
Result<bool> DatagramEndpoint::move(Direction direction, const Target& target, std::byte* local,
                                    const CopyShape& shape, Completion& done) {
  const std::size_t bytes = shape.total_bytes();
  if (bytes == 0 || (shape.levels > 0 && shape.run_bytes < min_row)) {
    return false;
  }
  if (!requests_.is_fenced(peer_, target.region)) {
    if (bytes <= max_after_requests) {
      return false;
    }
    TESSERA_RETURN_IF_ERROR(by_requests_->fence());
  }
  const CopyShape::Extent there = shape.remote_extent();
  TESSERA_ASSIGN_OR_RETURN(
      const auto lowest,
      find(target.region, target.offset + static_cast<std::uint64_t>(there.lowest),
           static_cast<std::uint64_t>(there.highest - there.lowest)));
  if (!lowest) {
    return false;
  }
  const std::uint64_t base = *lowest - static_cast<std::uint64_t>(there.lowest);
  Status status;
  kernels::for_each_run(shape, [&](std::int64_t here, std::int64_t remote) {
    if (status.ok()) {
      status = move_run(direction, base + static_cast<std::uint64_t>(remote), local + here,
                        shape.run_bytes, done);
    }
  });
  done.end(std::move(status));
  return true;
}

Status DatagramEndpoint::move_run(Direction direction, std::uint64_t address, std::byte* local,
                                  std::size_t bytes, Completion& done) {
  while (bytes > 0) {
    const std::size_t here = std::min(bytes, DatagramSocket::max_payload);
    const auto has_begun = direction == Direction::to_remote
                               ? connection_.write(address, local, here, done)
                               : connection_.read(address, local, here, done);
    if (!has_begun.ok()) {
      return requests_.loss_of(has_begun.status());
    }
    if (!*has_begun) {
      requests_.wait_briefly();
      continue;
    }
    address += here;
    local += here;
    bytes -= here;
  }
  return {};
}

// The address of these bytes of the peer's slice; none if they can be reached by requests only.
Result<std::optional<std::uint64_t>> DatagramEndpoint::find(RegionId region, std::uint64_t offset,
                                                            std::uint64_t bytes) {
  const auto address_in = [&](const Piece& piece) -> std::optional<std::uint64_t> {
    const bool is_inside = offset >= piece.offset && offset - piece.offset <= piece.span.bytes &&
                           bytes <= piece.span.bytes - (offset - piece.offset);
    return is_inside ? std::optional(piece.span.address + (offset - piece.offset)) : std::nullopt;
  };
  {
    const std::lock_guard guard(mutex_);
    for (const Piece& each : pieces_[region.value]) {
      if (const auto address = address_in(each); address || each.span.bytes == 0) {
        return address;
      }
    }
  }
  const auto located = requests_.locate(peer_, region, offset, [] {});
  if (!located.ok() && located.status().code() != Code::unsupported) {
    return located.status();
  }
  const Piece piece{offset, located.ok() ? *located : detail::RemoteSpan()};
  const std::lock_guard guard(mutex_);
  pieces_[region.value].push_back(piece);
  return address_in(piece);
}

Status DatagramEndpoint::accumulate(const Target& to, const void* from, const CopyShape& shape,
                                    const Scale& scale, Completion& done) {
  return by_requests_->accumulate(to, from, shape, scale, done);
}

Status DatagramEndpoint::atomic(const Target& at, const AtomicRequest& request, Completion& done) {
  return by_requests_->atomic(at, request, done);
}

Status DatagramEndpoint::atomic_list(const Target& at, const AtomicList& list, Completion& done) {
  return by_requests_->atomic_list(at, list, done);
}

Status DatagramEndpoint::put_fragments(const Target& to, Fragments fragments, Completion& done) {
  return by_requests_->put_fragments(to, fragments, done);
}

Status DatagramEndpoint::get_fragments(const Target& from, Fragments fragments, Completion& done) {
  return by_requests_->get_fragments(from, fragments, done);
}

Status DatagramEndpoint::accumulate_fragments(const Target& to, Fragments fragments,
                                              const Scale& scale, Completion& done) {
  return by_requests_->accumulate_fragments(to, fragments, scale, done);
}

}  // namespace tessera::rma::test
