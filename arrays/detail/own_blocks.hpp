// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. What a rank owns of a box of an array, where it lies.
#pragma once

#include <cstddef>

#include "arrays/array_base.hpp"
#include "arrays/patch.hpp"

namespace tessera::arrays::detail {

/// Calls `action(part, memory)` with each part of `box` that lies in one block of this rank's;
/// `slice` is the beginning of what this rank holds of the array.
template <class Action>
void for_each_own_part(const ArrayBase& array, const Box& box, std::byte* slice, Action&& action) {
  for (const Patch& block : array.distribution().blocks(array.team().rank())) {
    const Box part = intersect(block.box, box);
    if (!part.is_empty()) {
      const std::int64_t first = block.offset + distance(block.box.lo(), part.lo(), block.strides);
      action(part, LocalBuffer{slice + first * static_cast<std::int64_t>(array.element_bytes()),
                               block.strides});
    }
  }
}

/// One-sided. What this rank owns of the box `to` becomes what `from` has at the same place of
/// `from_box`, which has the same extents and lies inside. Complete: here.
rma::Status get_own(const ArrayBase& array, const Box& to, const ArrayBase& from,
                    const Box& from_box);

}  // namespace tessera::arrays::detail
