// SPDX-License-Identifier: BSD-3-Clause
//
// Walks a CopyShape: every run, or every line of runs, in the order of its levels (level 0
// fastest), with the offsets in bytes on both sides. No allocation, no recursion.
//
//     for_each_run(shape, [&](std::int64_t local, std::int64_t remote) { … });
//
// A line is the set of runs that level 0 repeats. A kernel for whole lines is chosen once per
// transfer; for_each_line() then walks the outer levels once per line.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "rma/shape.hpp"

namespace tessera::rma::kernels {

/// Level 0 of `shape`, which makes its lines; or one repetition if it has no level.
inline CopyShape::Level line_of(const CopyShape& shape) noexcept {
  return shape.levels == 0 ? CopyShape::Level{1, 0, 0} : shape.level[0];
}

/// True if the transfer moves nothing.
inline bool is_empty(const CopyShape& shape) noexcept {
  bool empty = shape.run_bytes == 0;
  for (int i = 0; i < shape.levels; ++i) {
    empty = empty || shape.level[static_cast<std::size_t>(i)].count <= 0;
  }
  return empty;
}

/// The offsets of the current plane, which is what levels 0 and 1 repeat. next() counts through
/// levels 2 and higher.
class PlaneIterator {
 public:
  explicit PlaneIterator(const CopyShape& shape) noexcept : shape_(shape) {}

  [[nodiscard]] std::int64_t local() const noexcept { return local_; }
  [[nodiscard]] std::int64_t remote() const noexcept { return remote_; }

  /// Advances to the next plane; false if there is none. Offsets never leave the transfer's extent,
  /// so shapes that CopyShape::check() accepts don't overflow here.
  bool next() noexcept {
    for (int i = 2; i < shape_.levels; ++i) {
      const CopyShape::Level& level = shape_.level[static_cast<std::size_t>(i)];
      std::int64_t& index = index_[static_cast<std::size_t>(i)];
      if (index + 1 < level.count) {
        ++index;
        local_ += level.local_stride;
        remote_ += level.remote_stride;
        return true;
      }
      local_ -= index * level.local_stride;
      remote_ -= index * level.remote_stride;
      index = 0;
    }
    return false;
  }

 private:
  const CopyShape& shape_;
  std::array<std::int64_t, max_stride_levels> index_ = {};
  std::int64_t local_ = 0;
  std::int64_t remote_ = 0;
};

/// Calls `body(local_offset, remote_offset)` for the first run of every line; line_of(shape) has
/// the rest of the line. Does nothing for an empty transfer. Requires: shape.check() is ok.
template <class Body>
void for_each_line(const CopyShape& shape, Body&& body) {
  if (is_empty(shape)) {
    return;
  }
  const auto [count, local_stride, remote_stride] =
      shape.levels < 2 ? CopyShape::Level{1, 0, 0} : shape.level[1];
  PlaneIterator plane(shape);
  do {
    const std::int64_t local = plane.local();
    const std::int64_t remote = plane.remote();
    for (std::int64_t i = 0; i < count; ++i) {
      body(local + i * local_stride, remote + i * remote_stride);
    }
  } while (plane.next());
}

/// Calls `body(local_offset, remote_offset)` for every run. Does nothing for an empty transfer.
/// Requires: shape.check() is ok.
template <class Body>
void for_each_run(const CopyShape& shape, Body&& body) {
  const CopyShape::Level line = line_of(shape);
  for_each_line(shape, [&](std::int64_t local, std::int64_t remote) {
    for (std::int64_t i = 0; i < line.count; ++i) {
      body(local + i * line.local_stride, remote + i * line.remote_stride);
    }
  });
}

}  // namespace tessera::rma::kernels
