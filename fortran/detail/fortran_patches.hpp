// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Patches as Fortran has them: the same structure with dimensions turned around and
// bounds that count from 1 and are included.
#pragma once

#include <algorithm>
#include <cstdint>

#include "fortran/c_types.h"

namespace tessera::fapi {

inline void turn_around(tessera_patch& patch) {
  const auto turn = [&](std::int64_t* numbers) { std::reverse(numbers, numbers + patch.ndims); };
  turn(patch.lo);
  turn(patch.hi);
  turn(patch.strides);
  for (std::int64_t dim = 0; dim < patch.ndims; ++dim) {
    ++patch.lo[dim];
  }
}

}  // namespace tessera::fapi
