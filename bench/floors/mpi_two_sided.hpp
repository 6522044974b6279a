// SPDX-License-Identifier: BSD-3-Clause
//
// Two-sided MPI beside the one-sided floor of make_mpi_floor(), and the way that both go. This
// header includes no <mpi.h>.
//
// All candidates are cooperative: measure them with together(). None where MPI doesn't run with
// these ranks, or has one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "bench/support/candidate.hpp"
#include "bench/support/crew.hpp"
#include "bench/support/mpi_path.hpp"
#include "bench/support/overlap.hpp"

namespace tessera::bench {

/// Collective when run. A message of `bytes` from rank 0 to rank 1 and back: one repetition is a
/// round trip, twice what OSU prints.
std::optional<Candidate> mpi_ping_pong_candidate(Crew& crew, std::size_t bytes);

/// Collective when run. `messages` of `bytes` each from rank 0 to rank 1, all outstanding, and 8
/// bytes back, as OSU's bandwidth.
std::optional<Candidate> mpi_stream_candidate(Crew& crew, std::size_t bytes, std::int64_t messages);

/// Collective when run. Rank 0 asks for `bytes` by 8 bytes that rank 1 waits for, and receives them
/// by MPI_Irecv: a get by messages, whose target does nothing else.
std::optional<Started> mpi_started_get(Crew& crew, std::size_t bytes);

/// Collective when run and checked. `candidate`, which rank 0 does alone, while rank 1 waits inside
/// MPI: one-sided operations at their best, where MPI has no thread of its own that answers them.
/// Requires: MPI runs with the ranks of `crew`.
Candidate mpi_helped_by_target(Crew& crew, Candidate candidate);

/// Collective. How MPI goes between ranks 0 and 1: from where they are, and from the settings of
/// Open MPI, UCX and MPICH.
MpiPath mpi_path(Crew& crew);

/// Collective. Why MPI_Compare_and_swap is not measured here; empty where it is, or MPI doesn't
/// run: Open MPI 4's one-sided component "rdma" ends the target with a segmentation fault in it
/// where ranks share a host and may not read each other's memory.
std::string mpi_compare_swap_problem(Crew& crew);

}  // namespace tessera::bench
