// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. The loop over two strided patterns of the same extents, for permutations of dimensions.
// It runs over lines along the target's fastest dimension. If the source has another fastest
// dimension, it works in small squares, so that cache lines are used completely before they are
// evicted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "arrays/index.hpp"

namespace tessera::linalg::detail {

/// The dimension with the smallest stride among those longer than 1; the last one if there are
/// none.
[[nodiscard]] inline int fastest_dim(const arrays::Extents& extents,
                                     const arrays::Strides& strides) noexcept {
  int fastest = extents.ndims() - 1;
  for (int dim = extents.ndims() - 1; dim >= 0; --dim) {
    const bool is_better = extents[fastest] <= 1 || strides[dim] < strides[fastest];
    if (extents[dim] > 1 && is_better) {
      fastest = dim;
    }
  }
  return fastest;
}

/// A piece of a line: offsets of its first element, and its strides.
struct LinePiece {
  std::int64_t to = 0;
  std::int64_t from = 0;
  std::int64_t count = 0;
  std::int64_t to_stride = 0;
  std::int64_t from_stride = 0;
};

/// Calls `body(LinePiece)` until all elements were visited once. Offsets are in elements. Requires:
/// at least one dimension.
template <class Body>
void for_each_line(const arrays::Extents& extents, const arrays::Strides& to,
                   const arrays::Strides& from, Body&& body) {
  constexpr std::int64_t square = 32;
  if (volume(extents) == 0) {
    return;
  }
  const int line = fastest_dim(extents, to);
  const int across = fastest_dim(extents, from);
  arrays::Extents outer = extents;
  outer[line] = 1;
  outer[across] = 1;
  const std::int64_t width = line == across ? extents[line] : square;
  const std::int64_t rows = line == across ? 1 : extents[across];
  arrays::Index at = arrays::Index::zeros(extents.ndims());
  const arrays::Index zero = at;
  do {
    const std::int64_t to_corner = distance(zero, at, to);
    const std::int64_t from_corner = distance(zero, at, from);
    for (std::int64_t i0 = 0; i0 < rows; i0 += square) {
      for (std::int64_t j0 = 0; j0 < extents[line]; j0 += width) {
        for (std::int64_t i = i0; i < std::min(i0 + square, rows); ++i) {
          body(LinePiece{.to = to_corner + i * to[across] + j0 * to[line],
                         .from = from_corner + i * from[across] + j0 * from[line],
                         .count = std::min(width, extents[line] - j0),
                         .to_stride = to[line],
                         .from_stride = from[line]});
        }
      }
    }
  } while (advance(at, outer, arrays::MemoryOrder::row_major));
}

}  // namespace tessera::linalg::detail
