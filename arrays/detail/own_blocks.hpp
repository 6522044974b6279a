// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. The parts of a box of an array that a rank owns, with their addresses.
#pragma once

#include <cstddef>

#include "arrays/array_base.hpp"
#include "arrays/patch.hpp"

namespace tessera::arrays::detail {

/// Calls `action(part, memory)` for each part of `box` that is in one block of this rank; `slice`
/// is the beginning of this rank's memory of the array.
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

/// One-sided. Copies into this rank's part of the box `to` the corresponding elements of the box
/// `from_box` of `from`, which has the same extents. Complete: locally.
rma::Status get_own(const ArrayBase& array, const Box& to, const ArrayBase& from,
                    const Box& from_box);

}  // namespace tessera::arrays::detail
