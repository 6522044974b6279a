// SPDX-License-Identifier: BSD-3-Clause
//
// How transfers travel: cut into parts of bounded size, long rows one by one, short ones packed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "rma/result.hpp"
#include "rma/shape.hpp"

namespace tessera::rma::server {

/// Rows from this length on go straight between memory and the stream: the kernel spends about as
/// long on a piece of its own as a copy of so many bytes takes.
inline constexpr std::size_t least_piece_bytes = 512;

/// The same transfer with the packed rows in the place of the remote side.
[[nodiscard]] inline CopyShape with_packed_remote(CopyShape shape) noexcept {
  auto stride = static_cast<std::int64_t>(shape.run_bytes);
  for (int i = 0; i < shape.levels; ++i) {
    CopyShape::Level& level = shape.level[static_cast<std::size_t>(i)];
    level.remote_stride = stride;
    stride *= level.count;
  }
  return shape;
}

/// Calls part(local offset, remote offset, shape) for pieces of `shape` that together are all of
/// it, each of at most `most` bytes and whole multiples of `grain` where a run is cut; returns the
/// first error. The offsets count from `local` and `remote`.
/// Requires: shape is normalised and moves something; grain ≤ most.
template <class Part>
Status for_each_part(const CopyShape& shape, std::size_t most, std::size_t grain, const Part& part,
                     std::int64_t local = 0, std::int64_t remote = 0) {
  if (shape.total_bytes() <= most) {
    return part(local, remote, shape);
  }
  if (shape.levels == 0) {
    const std::size_t step = most / grain * grain;
    for (std::size_t at = 0; at < shape.run_bytes; at += step) {
      const CopyShape piece = CopyShape::contiguous(std::min(step, shape.run_bytes - at));
      const auto offset = static_cast<std::int64_t>(at);
      TESSERA_RETURN_IF_ERROR(part(local + offset, remote + offset, piece));
    }
    return {};
  }
  // As many repetitions of the outermost level as fit; one at least, cut further if it doesn't.
  const auto outermost = static_cast<std::size_t>(shape.levels - 1);
  const CopyShape::Level outer = shape.level[outermost];
  CopyShape one = shape;
  one.level[outermost].count = 1;
  one = one.normalised();
  const auto fitting = static_cast<std::int64_t>(most / one.total_bytes());
  for (std::int64_t at = 0; at < outer.count; at += std::max<std::int64_t>(fitting, 1)) {
    CopyShape some = one;
    if (fitting >= 1) {
      some = shape;
      some.level[outermost].count = std::min(fitting, outer.count - at);
      some = some.normalised();
    }
    TESSERA_RETURN_IF_ERROR(for_each_part(some, most, grain, part, local + at * outer.local_stride,
                                          remote + at * outer.remote_stride));
  }
  return {};
}

/// Fragments that go in one request.
inline constexpr std::size_t most_batch_fragments = 4096;

/// Cuts a list where a request would get more than `most` bytes or most_batch_fragments, and calls
/// batch(fragments) for each piece, in order, until one fails. A fragment of more than `most` bytes
/// is a piece of its own.
template <class Batch>
Status for_each_batch(Fragments fragments, std::size_t most, const Batch& batch) {
  std::size_t first = 0;
  std::size_t bytes = 0;
  for (std::size_t at = 0; at < fragments.size(); ++at) {
    const std::size_t more = fragments[at].bytes;
    if (at > first && (bytes + more > most || at - first == most_batch_fragments)) {
      TESSERA_RETURN_IF_ERROR(batch(fragments.subspan(first, at - first)));
      first = at;
      bytes = 0;
    }
    bytes += more;
  }
  return batch(fragments.subspan(first));
}

[[nodiscard]] inline std::size_t total_bytes(Fragments fragments) noexcept {
  std::size_t bytes = 0;
  for (const Fragment& each : fragments) {
    bytes += each.bytes;
  }
  return bytes;
}

/// True when the kernel should move each fragment by itself.
[[nodiscard]] inline bool are_long(Fragments fragments) noexcept {
  return std::all_of(fragments.begin(), fragments.end(),
                     [](const Fragment& each) { return each.bytes >= least_piece_bytes; });
}

}  // namespace tessera::rma::server
