// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Brings entries that lie anywhere to the ranks that have their rows:
//
//     1. each rank lays out one receive buffer, by origin (list_exchange.hpp)
//     2. entries are put there, in batches sorted by destination
//     3. each rank sorts what it got by row and column, and adds duplicates
//
// Since a buffer is laid out by origin, and an origin's entries keep their order, duplicates are
// added in the order (origin rank, order in which the origin gave them), whatever the timing.
#pragma once

#include <vector>

#include "arrays/distribution.hpp"
#include "linalg/local_csr.hpp"
#include "rma/job.hpp"
#include "rma/result.hpp"
#include "rma/team.hpp"

namespace tessera::linalg::detail {

/// Collective. This rank's rows of what all members give. Requires: rows and columns are within
/// their extents. Errors: no_memory, peer_lost.
/// Memory: besides the result what was given and what is received, sizeof(Triplet<T>) an entry,
/// 16 MiB for batches, and 24 bytes a rank.
template <SparseElement T>
rma::Result<LocalCsr<T>> exchange(rma::Job& job, rma::Team& team, const arrays::Distribution& rows,
                                  std::int64_t columns, std::vector<Triplet<T>> given);

}  // namespace tessera::linalg::detail
