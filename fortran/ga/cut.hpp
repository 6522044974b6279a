// SPDX-License-Identifier: BSD-3-Clause
//
// Where the blocks of an array begin, and the distribution that follows from it.
//
// Programs see GA's cut (Distribution, Access, printed layouts, and own rules built on it), so it
// is GA's to the element: lengths are counted in chunks; the prime factors of the number of
// processes, largest first, each go to the dimension that they cut with the least remainder,
// beginning one dimension further each time; longer blocks come first.
#pragma once

#include <cstdint>

#include "arrays/distribution.hpp"
#include "fortran/ga/records.hpp"

namespace tessera::ga {

/// The starts of GA's default cut for `processes` processes. Requires: lengths of at least 1. Cost:
/// O(blocks).
Starts default_cut(const Extents& extents, const Chunk& chunk, std::int64_t processes);

/// The starts of the cut that Tessera's own arrays have: with the least surface. Errors: those of
/// choose_process_grid().
Result<Starts> surface_cut(const Extents& extents, const Chunk& chunk, std::int64_t processes);

/// The starts of blocks of `block` elements along each dimension.
Starts even_starts(const Extents& extents, const Extents& block);

/// The box of block `number`, in Fortran's order of blocks; it may be empty. Requires: it exists.
Box block_box(const Starts& starts, const Extents& extents, std::int64_t number);
/// The number of the block that has an element. Requires: the element exists.
std::int64_t block_of(const Starts& starts, const Index& place);

/// The box that GA's Distribution returns for a process, or for a block of an array that is not
/// regular; empty if the process or block has no elements.
Box box_of_process(const Record& record, std::int64_t number);

/// The coordinates of entry `number` of a grid, in Fortran's order of entries.
Index coordinates_in(const Extents& grid, std::int64_t number);

/// The distribution of an array that is planned, over `processes` processes, with these starts.
/// Errors: invalid_argument (more blocks than processes, a grid that doesn't fit), unsupported.
Result<arrays::Distribution> distribution_of(const Plan& plan, const Starts& starts,
                                             std::int64_t processes);

}  // namespace tessera::ga
