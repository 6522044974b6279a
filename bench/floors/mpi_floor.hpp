// SPDX-License-Identifier: BSD-3-Clause
//
// Two-sided MPI beside the one-sided floor of make_mpi_floor(). This header includes no <mpi.h>.
#pragma once

#include <cstddef>
#include <optional>

#include "bench/support/candidate.hpp"
#include "bench/support/crew.hpp"

namespace tessera::bench {

/// Collective when run. A message of `bytes` from rank 0 to rank 1 and back: one repetition is a
/// round trip, twice what OSU prints. None where MPI doesn't run with these ranks, or has one.
std::optional<Candidate> mpi_ping_pong_candidate(Crew& crew, std::size_t bytes);

}  // namespace tessera::bench
