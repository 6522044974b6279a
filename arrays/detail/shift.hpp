// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. From the places of one box to those of another with the same extents.
#pragma once

#include "arrays/box.hpp"

namespace tessera::arrays::detail {

/// The way from `from`'s lower corner to that of `to`. Requires: both have the same ndims().
[[nodiscard]] inline Index shift_between(const Box& from, const Box& to) noexcept {
  Index shift = to.lo();
  for (int dim = 0; dim < from.ndims(); ++dim) {
    shift[dim] -= from.lo(dim);
  }
  return shift;
}

}  // namespace tessera::arrays::detail
