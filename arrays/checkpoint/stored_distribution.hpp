// SPDX-License-Identifier: BSD-3-Clause
//
// A distribution as a list of numbers in a checkpoint:
//
//     format 1 · dimensions · ranks · storage · order · kind of block map · order of block map
//     one number for each dimension: ghosts; blocks; grid of ranks; grid of a node's ranks or 0
//     for each dimension: extent, kind of partition, and 1 number (the number of blocks, or their
//     size)
//       or the number of bounds and the bounds
//     for a table: the owner of each block, in the order of the block map
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arrays/distribution.hpp"

namespace tessera::arrays::detail {

std::vector<std::int64_t> to_numbers(const Distribution& distribution);

/// The distribution that the numbers describe. Errors: protocol for numbers that don't describe
/// one, unsupported for another format, no_memory.
rma::Result<Distribution> distribution_from(std::span<const std::int64_t> numbers);

}  // namespace tessera::arrays::detail
