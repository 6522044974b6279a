// SPDX-License-Identifier: BSD-3-Clause
//
// Internal, also for the layers above. Arrays that share memory (overlay): a write to one changes
// the other.
#pragma once

#include "arrays/array_base.hpp"
#include "arrays/box.hpp"

namespace tessera::arrays::detail {

/// Local. True if each index means the same bytes in both arrays, provided they share memory.
bool is_same_layout(const ArrayBase& one, const ArrayBase& other);

/// Local. Whether boxes of two arrays share memory. Requires: the boxes are inside arrays that are
/// open. Cost: O(1); for arrays with shared memory and different layouts O(n log n) time and O(n)
/// memory, where n is the number of contiguous pieces of the boxes.
bool share_memory(const ArrayBase& one, const Box& one_box, const ArrayBase& other,
                  const Box& other_box);

}  // namespace tessera::arrays::detail
