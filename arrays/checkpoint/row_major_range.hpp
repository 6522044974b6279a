// SPDX-License-Identifier: BSD-3-Clause
//
// A range of elements in row-major order, cut into boxes.
//
//     extents 4 x 5, range [3, 17):     . . . a a     box a: elements 3 and 4
//                                       b b b b b     box b: 5 to 14, two whole rows
//                                       b b b b b
//                                       c c . . .     box c: 15 and 16
//
// Each box is dense in that order, so it is one contiguous part of a buffer that holds the range.
// There are at most 2 · ndims − 1 boxes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "arrays/box.hpp"
#include "arrays/index.hpp"

namespace tessera::arrays::detail {

/// The index of an element, from its number in row-major order. Requires: 0 ≤ number <
/// volume(extents).
inline Index index_of_linear(const Extents& extents, std::int64_t number) noexcept {
  Index index = Index::zeros(extents.ndims());
  for (int dim = extents.ndims() - 1; dim >= 0; --dim) {
    index[dim] = number % extents[dim];
    number /= extents[dim];
  }
  return index;
}

/// The longest dense box that begins at `number` and ends before `last`. Its slowest dimension with
/// more than one index is the first one along which whole slices fit.
inline Box box_at(const Extents& extents, std::int64_t number, std::int64_t last) noexcept {
  const Strides strides = dense_strides(extents);
  int dim = 0;
  while (number % strides[dim] != 0 || strides[dim] > last - number) {
    ++dim;  // ends at the last dimension, whose stride is 1
  }
  const Index lo = index_of_linear(extents, number);
  Box box = Box::at(lo);
  const std::int64_t slices = (last - number) / strides[dim];
  box.set(dim, lo[dim], std::min(extents[dim], lo[dim] + slices));
  for (int faster = dim + 1; faster < extents.ndims(); ++faster) {
    box.set(faster, 0, extents[faster]);
  }
  return box;
}

/// Calls `body(box, number of its first element − first)` for the boxes of [first, last), in order.
/// Requires: 0 ≤ first ≤ last ≤ volume(extents).
template <class Body>
void for_each_box(const Extents& extents, std::int64_t first, std::int64_t last, Body&& body) {
  for (std::int64_t number = first; number < last;) {
    const Box box = box_at(extents, number, last);
    body(box, number - first);
    number += box.volume();
  }
}

}  // namespace tessera::arrays::detail
