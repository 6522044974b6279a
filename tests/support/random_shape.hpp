// SPDX-License-Identifier: BSD-3-Clause
//
// Shared by random tests: the origin of their seed, random shapes, and a model of shapes: a plain
// recursion over the levels that lists every run.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "rma/shape.hpp"

namespace tessera::rma::test {

/// The seed that GoogleTest was given (--gtest_random_seed, GTEST_RANDOM_SEED), or a new one.
inline std::uint64_t choose_seed() {
  const std::int32_t given = GTEST_FLAG_GET(random_seed);
  return given != 0 ? static_cast<std::uint64_t>(given) : std::random_device()() % 99'999 + 1;
}

/// A generator with a seed of choose_seed(). Prints it.
inline std::mt19937_64 make_random() {
  const std::uint64_t seed = choose_seed();
  std::cout << "--gtest_random_seed=" << seed << '\n';
  return std::mt19937_64(seed);
}

/// A number in [lowest, highest].
inline std::int64_t random_in(std::mt19937_64& random, std::int64_t lowest, std::int64_t highest) {
  return std::uniform_int_distribution<std::int64_t>(lowest, highest)(random);
}

/// The offsets of one run on both sides.
struct Run {
  std::int64_t local = 0;
  std::int64_t remote = 0;
  friend bool operator==(const Run&, const Run&) = default;
};

/// Appends the runs of the lowest `levels` levels, level 0 fastest.
inline void list_runs(const CopyShape& shape, int levels, Run from, std::vector<Run>& runs) {
  if (levels == 0) {
    runs.push_back(from);
    return;
  }
  const CopyShape::Level& top = shape.level[static_cast<std::size_t>(levels - 1)];
  for (std::int64_t i = 0; i < top.count; ++i) {
    const Run start{from.local + i * top.local_stride, from.remote + i * top.remote_stride};
    list_runs(shape, levels - 1, start, runs);
  }
}

inline std::vector<Run> runs_of(const CopyShape& shape) {
  std::vector<Run> runs;
  list_runs(shape, shape.levels, {}, runs);
  return runs;
}

/// The offsets of all bytes of all runs, in order: the effect of a transfer, independent of its
/// levels.
inline std::vector<Run> bytes_of(const CopyShape& shape) {
  std::vector<Run> bytes;
  for (const Run& run : runs_of(shape)) {
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(shape.run_bytes); ++i) {
      bytes.push_back({run.local + i, run.remote + i});
    }
  }
  return bytes;
}

/// A dense stride, or any multiple of `unit` of either sign.
inline std::int64_t random_stride(std::mt19937_64& random, std::int64_t dense, std::int64_t unit) {
  return random_in(random, 0, 3) == 0 ? dense : unit * random_in(random, -400 / unit, 400 / unit);
}

/// A shape of `levels` levels and a moderate number of runs; some are dense, a few are empty.
/// Run lengths and strides are multiples of `unit`.
inline CopyShape random_shape(std::mt19937_64& random, int levels, std::size_t run_bytes,
                              std::int64_t unit) {
  CopyShape shape = CopyShape::contiguous(run_bytes);
  auto dense = static_cast<std::int64_t>(run_bytes);
  for (int i = 0; i < levels; ++i) {
    const bool is_empty = random_in(random, 0, 60) == 0;
    const std::int64_t most = levels <= 2 ? 12 : levels <= 4 ? 4 : 2;
    const std::int64_t count = is_empty ? 0 : random_in(random, 1, most);
    const bool is_dense = random_in(random, 0, 3) == 0;
    shape.repeat(count, is_dense ? dense : random_stride(random, dense, unit),
                 is_dense ? dense : random_stride(random, dense, unit));
    dense *= count;
  }
  return shape;
}

/// The strides of one side, nested in a random order, so that no two runs touch. Some are dense,
/// some have gaps of whole `unit`s, about half of them are negative.
inline std::vector<std::int64_t> random_disjoint_strides(std::mt19937_64& random,
                                                         const std::vector<std::int64_t>& counts,
                                                         std::int64_t run_bytes,
                                                         std::int64_t unit) {
  std::vector<std::size_t> nesting(counts.size());
  std::iota(nesting.begin(), nesting.end(), std::size_t{0});
  std::shuffle(nesting.begin(), nesting.end(), random);
  std::vector<std::int64_t> strides(counts.size());
  std::int64_t extent = run_bytes;
  for (const std::size_t level : nesting) {
    const std::int64_t stride =
        extent + (random_in(random, 0, 1) == 0 ? 0 : unit) * random_in(random, 1, 4);
    strides[level] = random_in(random, 0, 1) == 0 ? stride : -stride;
    extent = stride * std::max<std::int64_t>(counts[level] - 1, 0) + extent;
  }
  return strides;
}

/// A shape whose runs do not touch each other on either side: for transfers with a result that
/// doesn't depend on the order of the runs. At most 8 × 8, 4⁴ or 2⁸ runs.
inline CopyShape random_disjoint_shape(std::mt19937_64& random, int levels, std::size_t run_bytes,
                                       std::int64_t unit) {
  const std::int64_t most = levels <= 2 ? 8 : levels <= 4 ? 4 : 2;
  std::vector<std::int64_t> counts(static_cast<std::size_t>(levels));
  for (std::int64_t& count : counts) {
    count = random_in(random, 0, 60) == 0 ? 0 : random_in(random, 1, most);
  }
  const auto run = static_cast<std::int64_t>(run_bytes);
  const auto local = random_disjoint_strides(random, counts, run, unit);
  const auto remote = random_disjoint_strides(random, counts, run, unit);
  CopyShape shape = CopyShape::contiguous(run_bytes);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    shape.repeat(counts[i], local[i], remote[i]);
  }
  return shape;
}

/// Run lengths for which kernels may differ: every short one, and the ends of the ranges.
inline std::size_t random_run_bytes(std::mt19937_64& random) {
  return static_cast<std::size_t>(random_in(random, 0, 9) == 0 ? random_in(random, 129, 700)
                                                               : random_in(random, 0, 130));
}

/// Memory for a whole transfer, with guard bytes around it; `origin` is the position of offset 0.
struct Side {
  std::vector<std::byte> bytes;
  std::size_t origin = 0;

  [[nodiscard]] std::byte* at(std::int64_t offset) {
    return bytes.data() + static_cast<std::int64_t>(origin) + offset;
  }
};

/// Room for [lowest, highest) with random contents, `shift` bytes off alignment.
inline Side make_side(std::mt19937_64& random, std::int64_t lowest, std::int64_t highest,
                      std::size_t shift) {
  constexpr std::int64_t guard_bytes = 64;
  Side side;
  // A multiple of 64, so that `shift` alone decides the alignment of offset 0 within malloc's 16.
  const auto below = static_cast<std::size_t>((guard_bytes - lowest + 63) / 64 * 64);
  side.origin = below + shift;
  side.bytes.resize(side.origin + static_cast<std::size_t>(highest + guard_bytes));
  for (std::byte& byte : side.bytes) {
    byte = static_cast<std::byte>(random());
  }
  return side;
}

/// The lowest and highest offset of any byte, by enumeration; both 0 if there is none.
struct Bounds {
  CopyShape::Extent local;
  CopyShape::Extent remote;
};

inline Bounds bounds_of(const CopyShape& shape) {
  Bounds bounds;
  bool is_first = true;
  for (const Run& byte : bytes_of(shape)) {
    const auto include = [&](CopyShape::Extent& extent, std::int64_t offset) {
      extent.lowest = is_first || offset < extent.lowest ? offset : extent.lowest;
      extent.highest = is_first || offset + 1 > extent.highest ? offset + 1 : extent.highest;
    };
    include(bounds.local, byte.local);
    include(bounds.remote, byte.remote);
    is_first = false;
  }
  return bounds;
}

/// The levels of a shape as text, for the message of a failing test.
inline std::string describe(const CopyShape& shape) {
  std::string text = "run " + std::to_string(shape.run_bytes);
  for (int i = 0; i < shape.levels; ++i) {
    const CopyShape::Level& level = shape.level[static_cast<std::size_t>(i)];
    text += ", {" + std::to_string(level.count) + ", " + std::to_string(level.local_stride) + ", " +
            std::to_string(level.remote_stride) + "}";
  }
  return text;
}

}  // namespace tessera::rma::test
