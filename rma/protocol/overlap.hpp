// SPDX-License-Identifier: BSD-3-Clause
//
// Checks whether fragments of a list overlap in the memory that is written. ([ARMCIMPI12] §VI.B
// uses a tree. A scan, with a sort if the list is not in order, needs no allocation for each node.)
#pragma once

#include <cstddef>
#include <span>

#include "rma/base/status.hpp"
#include "rma/shape.hpp"

namespace tessera::rma::detail {

/// Errors: invalid_argument if two fragments share bytes at the target; names both.
/// Cost: O(n) for lists in ascending order, else O(n log n).
Status check_remote_overlap(Fragments fragments);

/// The same for local memory, which a get writes.
Status check_local_overlap(Fragments fragments);

/// True if a few passes show that the runs of `bytes` each, in any order, don't overlap and that
/// none is null. False means "not known".
/// Cost: about 2 ns per run, no memory.
[[nodiscard]] bool are_surely_disjoint(std::span<void* const> runs, std::size_t bytes) noexcept;

}  // namespace tessera::rma::detail
