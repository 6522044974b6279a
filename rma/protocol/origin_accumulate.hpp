// SPDX-License-Identifier: BSD-3-Clause
//
// Protocol "origin accumulate": the origin gets the target's elements, adds to them, puts them back
// and fences, while it holds the target's ticket ([ARMCI06] §5). Usually accumulate_remote() sends
// the agent what to add instead (rma/protocol/remote.hpp).
//
// Bytes between the elements are neither read nor written. If an element appears more than once,
// the transfer is split so that each addition sees the result of the one before.
//
// Requires, for both functions: the caller holds the ticket of the target's rank
// (rma/engine/accumulate_tickets.hpp), and the data are whole elements. Complete at return, also at
// the target.
//
// Cost: two round trips (the get, the fence) for up to 1 MiB, another for each further MiB; one
// more for each if puts are waited for, as over RDMA devices. The ticket costs extra.
#pragma once

#include "rma/base/status.hpp"
#include "rma/element.hpp"
#include "rma/protocol/remote.hpp"
#include "rma/shape.hpp"

namespace tessera::rma::detail {

/// Requires: shape is checked and normalised.
Status accumulate_by_origin(const RemotePath& path, const Target& to, const void* from,
                            const CopyShape& shape, const Scale& scale);
/// The same for a list.
Status accumulate_by_origin(const RemotePath& path, const Target& to, Fragments fragments,
                            const Scale& scale);

}  // namespace tessera::rma::detail
