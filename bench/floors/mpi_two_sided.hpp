// SPDX-License-Identifier: BSD-3-Clause
//
// Two-sided MPI beside the one-sided floor of make_mpi_floor(). This header includes no <mpi.h>.
//
// Both candidates are cooperative: measure them with together(). None where MPI doesn't run with
// these ranks, or has one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "bench/support/candidate.hpp"
#include "bench/support/crew.hpp"

namespace tessera::bench {

/// Collective when run. A message of `bytes` from rank 0 to rank 1 and back: one repetition is a
/// round trip, twice what OSU prints.
std::optional<Candidate> mpi_ping_pong_candidate(Crew& crew, std::size_t bytes);

/// Collective when run. `messages` of `bytes` each from rank 0 to rank 1, all outstanding, and 8
/// bytes back, as OSU's bandwidth.
std::optional<Candidate> mpi_stream_candidate(Crew& crew, std::size_t bytes, std::int64_t messages);

}  // namespace tessera::bench
