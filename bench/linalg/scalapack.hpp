// SPDX-License-Identifier: BSD-3-Clause
//
// ScaLAPACK's matrix product, redistribution and transposition, in the layouts for which they were
// made. This header includes neither <mpi.h> nor a header of ScaLAPACK, which has none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "arrays/index.hpp"
#include "bench/support/candidate.hpp"
#include "bench/support/measure.hpp"

namespace tessera::bench {

/// Square matrices in blocks that are dealt to a grid of processes.
struct ScalapackProblem {
  std::int64_t edge = 0;
  std::int64_t block = 0;
  std::int64_t grid_rows = 1;
  std::int64_t grid_columns = 1;
  std::int64_t block_columns = 0;  ///< if blocks are not square
};

/// Collective, like the others. C = A B by pdgemm. Empty if this build has no ScaLAPACK, or if MPI
/// doesn't run with these ranks.
std::optional<Candidate> scalapack_candidate(RankGroup& group, std::string name,
                                             const ScalapackProblem& problem);

/// The same matrix in other blocks on the same grid, by pdgemr2d.
std::optional<Candidate> scalapack_redistribution(RankGroup& group, const ScalapackProblem& from,
                                                  const ScalapackProblem& to);

/// The nearly square grid for this number of ranks.
arrays::Extents square_grid(std::int64_t ranks);

/// The transpose, in the same layout, by pdtran.
std::optional<Candidate> scalapack_transposition(RankGroup& group, const ScalapackProblem& problem);

}  // namespace tessera::bench
