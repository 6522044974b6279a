// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Sends entries to the ranks that own their rows:
//
//     1. each rank lays out one receive buffer, by origin (list_exchange.hpp);
//     2. origins put entries there, in batches sorted by destination;
//     3. each rank sorts the received entries by row and column, and adds duplicates.
//
// A buffer is ordered by origin, and an origin's entries keep their order. So duplicates are always
// added in the same order, whatever the timing: first by origin rank, then as the origin gave them.
#pragma once

#include <vector>

#include "arrays/distribution.hpp"
#include "linalg/local_csr.hpp"
#include "rma/base/result.hpp"
#include "rma/job.hpp"
#include "rma/team.hpp"

namespace tessera::linalg::detail {

/// Collective. Returns this rank's rows of the matrix that the `given` entries of all members
/// describe. Requires: row and column numbers are within the extents. Errors: no_memory, peer_lost.
/// Memory besides the result: the given and the received entries, sizeof(Triplet<T>) each; 16 MiB
/// for batches; 24 bytes for each rank.
template <SparseElement T>
rma::Result<LocalCsr<T>> exchange_triplets(rma::Job& job, rma::Team& team,
                                           const arrays::Distribution& rows, std::int64_t columns,
                                           std::vector<Triplet<T>> given);

}  // namespace tessera::linalg::detail
