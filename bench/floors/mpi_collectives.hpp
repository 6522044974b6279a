// SPDX-License-Identifier: BSD-3-Clause
//
// MPI's collectives, and a ghost exchange by messages. This header includes no <mpi.h>.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "bench/support/candidate.hpp"
#include "bench/support/crew.hpp"

namespace tessera::bench {

/// A collective operation among all ranks, on doubles where it computes. `bytes` are each rank's.
struct Collective {
  enum class Kind { barrier, broadcast, allreduce, allgather };
  Kind kind = Kind::barrier;
  std::size_t bytes = 0;
};

/// Collective when run. MPI_Barrier, MPI_Bcast from rank 0, MPI_Allreduce in place, or
/// MPI_Allgather. None where MPI doesn't run with these ranks.
std::optional<Candidate> mpi_collective_candidate(Crew& crew, const Collective& collective);

/// The part of a three-dimensional periodic grid that one rank holds, row-major, last index
/// fastest.
struct GhostBlock {
  std::array<std::int64_t, 3> points = {};  ///< without ghosts
  std::int64_t width = 1;                   ///< ghost layers at each end
  /// World ranks of the neighbours below and above in each dimension.
  std::array<std::array<int, 2>, 3> neighbours = {};
};

/// Collective when run. Fills the ghosts of `block` in `memory` (doubles, with ghosts), corners
/// too: in each dimension in turn, two MPI_Sendrecv of subarray types that include the ghosts of
/// the dimensions before. None where MPI doesn't run with these ranks.
/// Requires: `memory` outlives the candidate.
std::optional<Candidate> mpi_ghost_candidate(Crew& crew, const GhostBlock& block, double* memory);

}  // namespace tessera::bench
