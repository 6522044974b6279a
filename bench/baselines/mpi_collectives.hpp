// SPDX-License-Identifier: BSD-3-Clause
//
// MPI's collectives, and a ghost exchange by messages. This header includes no <mpi.h>.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "bench/support/candidate.hpp"
#include "bench/support/collective.hpp"
#include "bench/support/rank_group.hpp"

namespace tessera::bench {

/// Collective when run. MPI_Barrier, MPI_Bcast from rank 0, MPI_Allreduce in place, MPI_Reduce to
/// rank 0, or MPI_Allgather. Empty if MPI doesn't run with these ranks.
std::optional<Candidate> mpi_collective_candidate(RankGroup& group, const Collective& collective);

/// Collective, also when run. MPI_Barrier of the first `ranks` ranks, on their own communicator.
/// Empty if MPI doesn't run with the ranks of this group.
std::optional<Candidate> mpi_barrier_candidate(RankGroup& group, int ranks);

/// The part of a periodic grid that one rank holds, row-major, last index fastest.
struct GhostBlock {
  std::vector<std::int64_t> points;  ///< in each dimension, without ghost cells
  std::int64_t width = 1;            ///< ghost layers at each end
  bool corners = true;               ///< false: only cells outside in exactly one dimension
  /// World ranks of the neighbours below and above in each dimension.
  std::vector<std::array<int, 2>> neighbours;
};

/// Collective when run. Fills the ghost cells of `block` in `memory` (doubles, with ghost cells):
/// for one dimension after the other, two MPI_Sendrecv of subarray types. With corners, these
/// include the ghost cells of the earlier dimensions. Empty if MPI doesn't run with these ranks.
/// Requires: `memory` outlives the candidate.
std::optional<Candidate> mpi_ghost_candidate(RankGroup& group, const GhostBlock& block,
                                             double* memory);

}  // namespace tessera::bench
