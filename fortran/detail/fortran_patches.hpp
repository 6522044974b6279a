// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Patches in Fortran's terms: the same structure with dimensions reversed and inclusive
// bounds that count from 1.
#pragma once

#include <algorithm>
#include <cstdint>

#include "fortran/c/types.h"

namespace tessera::fapi {

inline void reverse_dimensions(tessera_patch& patch) {
  const auto reverse_list = [&](std::int64_t* numbers) {
    std::reverse(numbers, numbers + patch.ndims);
  };
  reverse_list(patch.lo);
  reverse_list(patch.hi);
  reverse_list(patch.strides);
  for (std::int64_t dim = 0; dim < patch.ndims; ++dim) {
    ++patch.lo[dim];
  }
}

}  // namespace tessera::fapi
