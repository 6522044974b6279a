// SPDX-License-Identifier: BSD-3-Clause
//
// Do the pieces of a fragment list overlap where they are written? ([ARMCIMPI12] §VI.B asks this
// with a tree; a scan, and a sort where the list is not in order, needs no allocation a node.)
#pragma once

#include <cstddef>
#include <span>

#include "rma/shape.hpp"
#include "rma/status.hpp"

namespace tessera::rma::detail {

/// Errors: invalid_argument when two fragments share bytes at the target; names both.
/// Cost: O(n) for lists in ascending order, else O(n log n).
Status check_remote_overlap(Fragments fragments);

/// The same for local memory, which a get writes.
Status check_local_overlap(Fragments fragments);

/// True when the runs of `bytes` each, in any order, are apart from each other and none is null, as
/// far as a few passes over them can tell; false says nothing.
/// Cost: about 2 ns a run, without memory of its own.
[[nodiscard]] bool are_plainly_apart(std::span<void* const> runs, std::size_t bytes) noexcept;

}  // namespace tessera::rma::detail
