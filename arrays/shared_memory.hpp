// SPDX-License-Identifier: BSD-3-Clause
//
// Internal, for the layers above, too. Arrays that lie over each other's memory (overlay): what is
// written through the one is read through the other.
#pragma once

#include "arrays/array_base.hpp"
#include "arrays/box.hpp"

namespace tessera::arrays::detail {

/// Local. Whether one index stands for the same bytes in both, if they have the same memory.
bool is_same_layout(const ArrayBase& one, const ArrayBase& other);

/// Local. Whether boxes of two arrays have memory in common. Requires: the boxes are inside of
/// arrays that are open. Cost: O(1) but for arrays of one memory and two layouts, and for these
/// O(n log n) time and O(n) memory of n pieces of memory that the boxes consist of.
bool share_memory(const ArrayBase& one, const Box& one_box, const ArrayBase& other,
                  const Box& other_box);

}  // namespace tessera::arrays::detail
