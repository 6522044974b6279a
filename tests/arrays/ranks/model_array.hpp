// SPDX-License-Identifier: BSD-3-Clause
//
// The oracle of array tests: the whole array in one ordinary vector, and random boxes.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "arrays/box.hpp"
#include "arrays/index.hpp"

namespace tessera::arrays::test {

/// A number that is different for each element, and the same on every rank.
inline double fingerprint(const Index& index) {
  double value = 1;
  for (const std::int64_t i : index) {
    value = value * 131 + static_cast<double>(i);
  }
  return value;
}

/// Calls `body(index)` for every element of a box, last dimension fastest.
template <class Body>
void for_each_index(const Box& box, Body&& body) {
  if (box.is_empty()) {
    return;
  }
  Index index = box.lo();
  while (true) {
    body(index);
    int dim = box.ndims() - 1;
    for (; dim >= 0; --dim) {
      if (++index[dim] < box.hi(dim)) {
        break;
      }
      index[dim] = box.lo(dim);
    }
    if (dim < 0) {
      return;
    }
  }
}

/// The fingerprints of a box as a dense buffer.
inline std::vector<double> fingerprints(const Box& box) {
  std::vector<double> values;
  for_each_index(box, [&](const Index& index) { values.push_back(fingerprint(index)); });
  return values;
}

/// A random box inside `extents`, rarely empty.
inline Box random_box(const Extents& extents, std::mt19937_64& random) {
  Box box = Box::none(extents.ndims());
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    std::uniform_int_distribution<std::int64_t> bound(0, extents[dim]);
    const std::int64_t a = bound(random);
    const std::int64_t b = bound(random);
    box.set(dim, std::min(a, b), std::max(a, b));
  }
  return box;
}

}  // namespace tessera::arrays::test
