// SPDX-License-Identifier: BSD-3-Clause
//
// ScaLAPACK's matrix product, in the layout that it was made for. This header includes neither
// <mpi.h> nor anything of ScaLAPACK, which has no headers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bench/support/candidate.hpp"
#include "bench/support/crew.hpp"

namespace tessera::bench {

/// Square matrices in square blocks, dealt to a grid of processes.
struct ScalapackProblem {
  std::int64_t edge = 0;
  std::int64_t block = 0;
  std::int64_t grid_rows = 1;
  std::int64_t grid_columns = 1;
};

/// Collective. C = A B by pdgemm. None where ScaLAPACK isn't built in, or MPI doesn't run with
/// these ranks.
std::optional<Candidate> scalapack_candidate(Crew& crew, std::string name,
                                             const ScalapackProblem& problem);

}  // namespace tessera::bench
