// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. The offset between boxes with the same extents.
#pragma once

#include "arrays/box.hpp"

namespace tessera::arrays::detail {

/// The offset from the lower corner of `from` to that of `to`. Requires: both have the same
/// ndims().
[[nodiscard]] inline Index shift_between(const Box& from, const Box& to) noexcept {
  Index shift = to.lo();
  for (int dim = 0; dim < from.ndims(); ++dim) {
    shift[dim] -= from.lo(dim);
  }
  return shift;
}

}  // namespace tessera::arrays::detail
