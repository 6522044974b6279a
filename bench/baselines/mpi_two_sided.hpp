// SPDX-License-Identifier: BSD-3-Clause
//
// Two-sided MPI, in addition to the one-sided baseline of make_mpi_baseline(), and the transport
// that both use. This header does not include <mpi.h>.
//
// All candidates are cooperative: measure them with together(). Empty if MPI doesn't run with these
// ranks, or has only one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "bench/support/candidate.hpp"
#include "bench/support/overlap.hpp"
#include "bench/support/paths.hpp"
#include "bench/support/rank_group.hpp"

namespace tessera::bench {

/// Collective when run. A message of `bytes` from rank 0 to rank 1 and back. One repetition is a
/// round trip, twice the time that OSU prints.
std::optional<Candidate> mpi_ping_pong_candidate(RankGroup& group, std::size_t bytes);

/// Collective when run. `messages` of `bytes` each from rank 0 to rank 1, all outstanding, and 8
/// bytes back, as OSU's bandwidth test.
std::optional<Candidate> mpi_stream_candidate(RankGroup& group, std::size_t bytes,
                                              std::int64_t messages);

/// Collective when run. Rank 0 requests `bytes` by a message of 8 bytes for which rank 1 waits, and
/// receives them with MPI_Irecv: a get by messages, with a target that does nothing else.
std::optional<Started> mpi_started_get(RankGroup& group, std::size_t bytes);

/// Collective when run and checked. Rank 0 alone runs `candidate`, while rank 1 waits inside MPI.
/// This is the best case for one-sided operations if MPI has no thread of its own that answers
/// them. Requires: MPI runs with the ranks of this group.
Candidate mpi_helped_by_target(RankGroup& group, Candidate candidate);

/// Collective. The transport that MPI uses between ranks 0 and 1, derived from their locations and
/// from the settings of Open MPI, UCX and MPICH.
MpiPath mpi_path(RankGroup& group);

/// Collective. Why MPI_Compare_and_swap is not measured here; empty if it is, or if MPI doesn't
/// run. In it, Open MPI 4's one-sided component "rdma" ends the target with a segmentation fault if
/// ranks share a host and may not read each other's memory.
std::string mpi_compare_swap_problem(RankGroup& group);

}  // namespace tessera::bench
