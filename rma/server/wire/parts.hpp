// SPDX-License-Identifier: BSD-3-Clause
//
// How transfers are sent: cut into parts of bounded size, long rows separately, short ones packed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "rma/base/result.hpp"
#include "rma/shape.hpp"

namespace tessera::rma::server {

/// Rows of at least this length move directly between memory and the stream: one more piece costs
/// the kernel about as long as copying this many bytes.
inline constexpr std::size_t min_piece_bytes = 512;

/// The maximum that a request or its reply carries packed; longer operations are sent in parts.
inline constexpr std::size_t max_packed_bytes = 1U << 20U;
/// The same for bytes that move directly between the stream and memory.
inline constexpr std::size_t max_direct_bytes = 16U << 20U;

/// Which rows of a transfer are packed. The two ends of a connection may use different limits.
struct PackingLimits {
  std::size_t min_direct_row = min_piece_bytes;  ///< shorter rows are packed
};

/// The sizes of the parts of a transfer. The first part of a pipeline may be small, so that the
/// other stages start early.
class Chunks {
 public:
  explicit Chunks(std::size_t each) noexcept : limit_(each), each_(each) {}
  Chunks(std::size_t first, std::size_t each) noexcept : limit_(first), each_(each) {}
  /// The maximum of the next part.
  [[nodiscard]] std::size_t limit() const noexcept { return limit_; }
  void next() noexcept { limit_ = each_; }

 private:
  std::size_t limit_;
  std::size_t each_;  ///< of the parts after the first
};

/// The same transfer with the packed rows in place of the remote side.
[[nodiscard]] inline CopyShape with_packed_remote(CopyShape shape) noexcept {
  auto stride = static_cast<std::int64_t>(shape.run_bytes);
  for (int i = 0; i < shape.levels; ++i) {
    CopyShape::Level& level = shape.level[static_cast<std::size_t>(i)];
    level.remote_stride = stride;
    stride *= level.count;
  }
  return shape;
}

/// Splits `shape` into pieces and calls part(local offset, remote offset, shape) for each; returns
/// the first error. Each piece has at most chunks.limit() bytes; if a run is cut, its pieces are
/// multiples of `grain`. The offsets are relative to `local` and `remote`. Requires: shape is
/// normalised and not empty; grain ≤ the limits.
template <class Part>
Status for_each_part(const CopyShape& shape, Chunks& chunks, std::size_t grain, const Part& part,
                     std::int64_t local = 0, std::int64_t remote = 0) {
  if (shape.total_bytes() <= chunks.limit()) {
    chunks.next();
    return part(local, remote, shape);
  }
  if (shape.levels == 0) {
    for (std::size_t at = 0; at < shape.run_bytes;) {
      const std::size_t step = std::min(chunks.limit() / grain * grain, shape.run_bytes - at);
      const auto offset = static_cast<std::int64_t>(at);
      chunks.next();
      TESSERA_RETURN_IF_ERROR(part(local + offset, remote + offset, CopyShape::contiguous(step)));
      at += step;
    }
    return {};
  }
  // As many repetitions of the outermost level as fit; at least one, which is cut further if too
  // long.
  const auto outermost = static_cast<std::size_t>(shape.levels - 1);
  const CopyShape::Level outer = shape.level[outermost];
  CopyShape one = shape;
  one.level[outermost].count = 1;
  one = one.normalised();
  for (std::int64_t at = 0; at < outer.count;) {
    const auto fitting = static_cast<std::int64_t>(chunks.limit() / one.total_bytes());
    const std::int64_t count = std::clamp<std::int64_t>(fitting, 1, outer.count - at);
    CopyShape some = one;
    if (count > 1) {
      some = shape;
      some.level[outermost].count = count;
      some = some.normalised();
    }
    TESSERA_RETURN_IF_ERROR(for_each_part(some, chunks, grain, part,
                                          local + at * outer.local_stride,
                                          remote + at * outer.remote_stride));
    at += count;
  }
  return {};
}

/// Fragments in one request.
inline constexpr std::size_t max_batch_fragments = 4096;

/// Splits a list into pieces of at most `most` bytes and max_batch_fragments fragments. Calls
/// batch(fragments) for each piece, in order, until one fails. A fragment of more than `most` bytes
/// is a piece of its own.
template <class Batch>
Status for_each_batch(Fragments fragments, std::size_t most, const Batch& batch) {
  std::size_t first = 0;
  std::size_t bytes = 0;
  for (std::size_t at = 0; at < fragments.size(); ++at) {
    const std::size_t more = fragments[at].bytes;
    if (at > first && (bytes + more > most || at - first == max_batch_fragments)) {
      TESSERA_RETURN_IF_ERROR(batch(fragments.subspan(first, at - first)));
      first = at;
      bytes = 0;
    }
    bytes += more;
  }
  return batch(fragments.subspan(first));
}

/// True if the kernel should move each fragment separately.
[[nodiscard]] inline bool are_long(Fragments fragments, const PackingLimits& limits) noexcept {
  return std::all_of(fragments.begin(), fragments.end(),
                     [&](const Fragment& each) { return each.bytes >= limits.min_direct_row; });
}

}  // namespace tessera::rma::server
