// SPDX-License-Identifier: BSD-3-Clause
#include "rma/shape.hpp"

#include <fmt/format.h>

#include <limits>

namespace tessera::rma {
namespace {

// Bytes between the first and the last start of a level; false if they don't fit 64 bits.
bool reach(std::int64_t count, std::int64_t stride, std::int64_t& bytes) {
  return !__builtin_mul_overflow(count - 1, stride, &bytes);
}

bool add_reach(CopyShape::Extent& extent, std::int64_t count, std::int64_t stride) {
  std::int64_t bytes = 0;
  if (!reach(count, stride, bytes)) {
    return false;
  }
  std::int64_t& end = bytes < 0 ? extent.lowest : extent.highest;
  std::int64_t length = 0;
  return !__builtin_add_overflow(end, bytes, &end) &&
         !__builtin_sub_overflow(extent.highest, extent.lowest, &length);
}

// True if `next` continues where `below` ends: its strides equal the whole extent of `below`.
bool continues(const CopyShape::Level& next, const CopyShape::Level& below) {
  std::int64_t local = 0;
  std::int64_t remote = 0;
  return !__builtin_mul_overflow(below.count, below.local_stride, &local) &&
         !__builtin_mul_overflow(below.count, below.remote_stride, &remote) &&
         next.local_stride == local && next.remote_stride == remote;
}

bool is_empty(const CopyShape& shape) {
  bool empty = shape.run_bytes == 0;
  for (int i = 0; i < shape.levels; ++i) {
    empty = empty || shape.level[static_cast<std::size_t>(i)].count == 0;
  }
  return empty;
}

}  // namespace

Status CopyShape::check() const {
  if (levels < 0 || levels > max_stride_levels) {
    return Status::error(
        Code::invalid_argument,
        fmt::format("{} stride levels; at most {} are possible", levels, max_stride_levels));
  }
  if (run_bytes > static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max())) {
    return Status::error(Code::invalid_argument,
                         fmt::format("a run of {} bytes does not fit 63 bits", run_bytes));
  }
  auto total = static_cast<std::int64_t>(run_bytes);
  bool empty = run_bytes == 0;
  for (int i = 0; i < levels; ++i) {
    const Level& at = level[static_cast<std::size_t>(i)];
    if (at.count < 0) {
      return Status::error(Code::invalid_argument,
                           fmt::format("count {} at stride level {} is negative", at.count, i));
    }
    empty = empty || at.count == 0;
  }
  if (empty) {
    return {};
  }
  Extent local{0, total};
  Extent remote{0, total};
  for (int i = 0; i < levels; ++i) {
    const Level& at = level[static_cast<std::size_t>(i)];
    if (__builtin_mul_overflow(total, at.count, &total) ||
        !add_reach(local, at.count, at.local_stride) ||
        !add_reach(remote, at.count, at.remote_stride)) {
      return Status::error(Code::invalid_argument,
                           fmt::format("size or extent of the transfer overflows 63 bits at "
                                       "stride level {} (count {}, strides {} and {})",
                                       i, at.count, at.local_stride, at.remote_stride));
    }
  }
  return {};
}

std::int64_t CopyShape::runs() const noexcept {
  if (is_empty(*this)) {
    return 0;  // the other counts do not matter
  }
  std::int64_t product = 1;
  for (int i = 0; i < levels; ++i) {
    product *= level[static_cast<std::size_t>(i)].count;
  }
  return product;
}

std::size_t CopyShape::total_bytes() const noexcept {
  return run_bytes * static_cast<std::size_t>(runs());
}

CopyShape CopyShape::normalised() const noexcept {
  if (is_empty(*this)) {
    return contiguous(0);
  }
  CopyShape result = contiguous(run_bytes);
  for (int i = 0; i < levels; ++i) {
    const Level& at = level[static_cast<std::size_t>(i)];
    if (at.count == 1) {
      continue;
    }
    const auto run = static_cast<std::int64_t>(result.run_bytes);
    if (result.levels == 0 && at.local_stride == run && at.remote_stride == run) {
      result.run_bytes *= static_cast<std::size_t>(at.count);
      continue;
    }
    if (result.levels > 0) {
      Level& below = result.level[static_cast<std::size_t>(result.levels - 1)];
      if (continues(at, below)) {
        below.count *= at.count;
        continue;
      }
    }
    result.level[static_cast<std::size_t>(result.levels++)] = at;
  }
  return result;
}

CopyShape::Extent CopyShape::local_extent() const noexcept {
  if (is_empty(*this)) {
    return {};
  }
  Extent extent{0, static_cast<std::int64_t>(run_bytes)};
  for (int i = 0; i < levels; ++i) {
    const Level& at = level[static_cast<std::size_t>(i)];
    add_reach(extent, at.count, at.local_stride);
  }
  return extent;
}

CopyShape::Extent CopyShape::remote_extent() const noexcept {
  if (is_empty(*this)) {
    return {};
  }
  Extent extent{0, static_cast<std::int64_t>(run_bytes)};
  for (int i = 0; i < levels; ++i) {
    const Level& at = level[static_cast<std::size_t>(i)];
    add_reach(extent, at.count, at.remote_stride);
  }
  return extent;
}

}  // namespace tessera::rma
