// SPDX-License-Identifier: BSD-3-Clause
//
// The parts of suite "mpi": what Tessera takes on MPI's windows beside the calls of MPI that it
// makes, beside ARMCI-MPI, and beside its own native transports ([ARMCIMPI12], figures 3 to 6).
//
// Rank 0 is the origin and rank 1 the target. Both have to be started by mpirun or srun, with
// TESSERA_TRANSPORT=mpi, or with shm,mpi on different nodes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/session.hpp"

namespace tessera::bench {

/// `part`, where rank 0 reaches rank 1 by transport mpi; else a remark says how to make it so.
std::function<void(Session&)> over_windows(std::function<void(Session&)> part);

/// Put, get and accumulate of one run, over the sizes of -m; complete here and at the target.
void measure_windows_contiguous(Session& session);
/// 1 to 1024 segments of 16 and 1024 bytes, as lists and as rows, by each method.
void measure_windows_lists(Session& session);
/// Puts and gets with local memory of the library, of MPI and of the user.
void measure_windows_buffers(Session& session);
/// Finding the region of an address among 5000.
void measure_windows_translation(Session& session);
/// Coupled cluster on this transport and on native ones, in the same rounds.
void measure_windows_ccsd(Session& session);

/// What the design asks of transport mpi.
std::vector<Target> windows_targets();

namespace windows_target {

inline constexpr const char* put = "mpi put 8 B to 64 KiB: time / bare MPI";
inline constexpr const char* get = "mpi get 8 B to 64 KiB: time / bare MPI";
inline constexpr const char* accumulate = "mpi accumulate 8 B to 64 KiB: time / bare MPI";
inline constexpr const char* contiguous = "mpi contiguous: time / ARMCI-MPI";
inline constexpr const char* lists = "mpi lists from 64 segments: speed / ARMCI-MPI";
inline constexpr const char* rows = "mpi rows from 64 segments: speed / ARMCI-MPI";
inline constexpr const char* translation = "translation among 5000 regions: ns";

}  // namespace windows_target

}  // namespace tessera::bench
