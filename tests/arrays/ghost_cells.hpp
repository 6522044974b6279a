// SPDX-License-Identifier: BSD-3-Clause
//
// The ghost cells that an update fills, and their values, cell by cell, from the documentation in
// arrays/halo.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arrays/box.hpp"
#include "arrays/halo.hpp"
#include "arrays/index.hpp"

namespace tessera::arrays::test {

/// The element that a cell copies if the array is periodic.
inline Index periodic_image(Index cell, const Extents& extents) {
  for (int dim = 0; dim < cell.ndims(); ++dim) {
    cell[dim] = ((cell[dim] % extents[dim]) + extents[dim]) % extents[dim];
  }
  return cell;
}

inline bool is_beyond(const Index& cell, const Box& own, int dim) {
  return cell[dim] < own.lo(dim) || cell[dim] >= own.hi(dim);
}

/// Whether a cell is a ghost cell in dimensions of `dims` only.
inline bool lies_beside(const Index& cell, const Box& own, PeriodicDims dims) {
  for (int dim = 0; dim < cell.ndims(); ++dim) {
    if (is_beyond(cell, own, dim) && !dims.test(static_cast<std::size_t>(dim))) {
      return false;
    }
  }
  return !own.contains(cell);
}

/// Whether an update of `widths` layers writes a ghost cell.
inline bool is_updated(const Index& cell, const Box& own, const Extents& extents,
                       const HaloOptions& options, const Extents& widths) {
  int outside = 0;
  for (int dim = 0; dim < cell.ndims(); ++dim) {
    outside += is_beyond(cell, own, dim) ? 1 : 0;
    const bool is_image = cell[dim] < 0 || cell[dim] >= extents[dim];
    if (is_image && !options.periodic.test(static_cast<std::size_t>(dim))) {
      return false;
    }
  }
  return own.grown(widths).contains(cell) && outside > 0 && (outside == 1 || options.corners) &&
         !lies_beside(cell, own, options.left_out);
}

}  // namespace tessera::arrays::test
