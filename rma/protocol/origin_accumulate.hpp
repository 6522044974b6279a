// SPDX-License-Identifier: BSD-3-Clause
//
// Protocol "origin accumulate": the origin gets the target's elements, adds, puts them back and
// fences, in the target's turn ([ARMCI06] §5). The agent's way, in which it is sent what to add, is
// accumulate_remote()'s usual one (rma/protocol/remote.hpp).
//
// Bytes between the elements are neither read nor written. Where an element is met more than once,
// the transfer is cut so that each time sees what the one before left.
//
// Requires, of both: the caller has the turn at the target's rank (rma/engine/accumulate_turns.hpp)
// and all is of whole elements. Complete at return, at the target, too.
// Cost: two round trips (the get, the fence) for up to 1 MiB, another for each further MiB; where
// puts are waited for, as over RDMA devices, one more for each. The turn comes on top.
#pragma once

#include "rma/element.hpp"
#include "rma/protocol/remote.hpp"
#include "rma/shape.hpp"
#include "rma/status.hpp"

namespace tessera::rma::detail {

/// Requires: shape is checked and normalised.
Status accumulate_by_origin(const RemotePath& path, const Target& to, const void* from,
                            const CopyShape& shape, const Scale& scale);
/// The same for a list.
Status accumulate_by_origin(const RemotePath& path, const Target& to, Fragments fragments,
                            const Scale& scale);

}  // namespace tessera::rma::detail
