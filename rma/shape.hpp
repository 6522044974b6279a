// SPDX-License-Identifier: BSD-3-Clause
//
// What one transfer moves: CopyShape for regular (strided) patterns, Fragment lists for others.
//
// A strided transfer copies runs of `run_bytes` contiguous bytes. Level 0 repeats the run `count`
// times, `local_stride` bytes apart in the caller's memory and `remote_stride` bytes apart at the
// target; level 1 repeats level 0, and so on:
//
//     run_bytes = 16, levels = 1, level[0] = {3, 16, 64}
//     local   |################|################|################|          packed
//     remote  |################|----48 bytes----|################|----48----|################|
//
// This is the stride descriptor of ARMCI ([ARMCI06] §3.2.2) with 64-bit counts and units in bytes
// throughout. Strides may be negative and need not be multiples of anything.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "rma/base/status.hpp"

namespace tessera::rma {

/// Stride levels above the contiguous run.
inline constexpr int max_stride_levels = 8;

struct CopyShape {
  struct Level {
    std::int64_t count;          ///< repetitions of the level below
    std::int64_t local_stride;   ///< bytes
    std::int64_t remote_stride;  ///< bytes
    friend bool operator==(const Level&, const Level&) = default;
  };

  std::size_t run_bytes = 0;
  int levels = 0;
  /// Only level[0 … levels − 1] are used. The others are not initialised, which would cost a small
  /// transfer more than all other work on its shape.
  std::array<Level, max_stride_levels> level;

  /// One contiguous run.
  static CopyShape contiguous(std::size_t bytes) noexcept {
    CopyShape shape;
    shape.run_bytes = bytes;
    return shape;
  }

  /// `rows` runs of `row_bytes`, with the given strides in bytes.
  static CopyShape rows(std::size_t row_bytes, std::int64_t rows, std::int64_t local_stride,
                        std::int64_t remote_stride) noexcept {
    CopyShape shape;
    shape.run_bytes = row_bytes;
    shape.levels = 1;
    shape.level[0] = {rows, local_stride, remote_stride};
    return shape;
  }

  /// Adds a level on top. A ninth level is counted but not stored; check() reports it.
  CopyShape& repeat(std::int64_t count, std::int64_t local_stride,
                    std::int64_t remote_stride) noexcept {
    if (levels < max_stride_levels) {
      level[static_cast<std::size_t>(levels)] = {count, local_stride, remote_stride};
    }
    ++levels;
    return *this;
  }

  /// Errors: invalid_argument for more than max_stride_levels levels, a negative count, or a size
  /// or extent that doesn't fit 63 bits.
  [[nodiscard]] Status check() const;

  /// The number of runs; 0 for runs of no bytes. Requires: check() is ok.
  [[nodiscard]] std::int64_t runs() const noexcept;
  /// The total number of bytes. Requires: check() is ok.
  [[nodiscard]] std::size_t total_bytes() const noexcept;

  /// The same transfer without levels of count 1 and with dense levels merged into the run, so that
  /// levels == 0 means contiguous on both sides. An empty transfer becomes run_bytes 0.
  [[nodiscard]] CopyShape normalised() const noexcept;

  /// The bytes that the transfer accesses, as [lowest, highest) relative to its first byte; empty
  /// if it moves nothing. Requires: check() is ok.
  struct Extent {
    std::int64_t lowest = 0;
    std::int64_t highest = 0;
  };
  [[nodiscard]] Extent local_extent() const noexcept;
  [[nodiscard]] Extent remote_extent() const noexcept;

  friend bool operator==(const CopyShape& a, const CopyShape& b) noexcept {
    const auto used = std::clamp(a.levels, 0, max_stride_levels);
    return a.run_bytes == b.run_bytes && a.levels == b.levels &&
           std::equal(a.level.begin(), a.level.begin() + used, b.level.begin());
  }
};

/// One piece of a scattered transfer (ARMCI's I/O vector, [ARMCI06] §3.2.1).
struct Fragment {
  void* local = nullptr;            ///< read by put and accumulate, written by get
  std::uint64_t remote_offset = 0;  ///< bytes from the start of the target's slice
  std::size_t bytes = 0;
};

/// A list of fragments, borrowed from the caller during the call that takes it.
using Fragments = std::span<const Fragment>;

/// Bytes of all fragments together.
[[nodiscard]] inline std::size_t total_bytes(Fragments fragments) noexcept {
  std::size_t bytes = 0;
  for (const Fragment& each : fragments) {
    bytes += each.bytes;
  }
  return bytes;
}

}  // namespace tessera::rma
