// SPDX-License-Identifier: BSD-3-Clause
//
// The parts of suite "mpi": Tessera on MPI's windows, compared with the MPI calls that it makes,
// with ARMCI-MPI, and with its own native transports ([ARMCIMPI12], figures 3 to 6).
//
// Rank 0 is the origin and rank 1 the target. Start both with mpirun or srun and
// TESSERA_TRANSPORT=mpi, or with shm,mpi on different nodes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/session.hpp"

namespace tessera::bench {

/// Runs `part` if rank 0 reaches rank 1 by transport mpi; otherwise prints a remark that says how
/// to get that.
std::function<void(Session&)> over_windows(std::function<void(Session&)> part);

/// Put, get and accumulate of one run, over the sizes of -m; locally complete, and complete at the
/// target.
void measure_windows_contiguous(Session& session);
/// 1 to 1024 segments of 16 and 1024 bytes, as lists and as rows, by each method.
void measure_windows_lists(Session& session);
/// Puts and gets with local memory of the library, of MPI and of the user.
void measure_windows_buffers(Session& session);
/// Finding the region of an address among 5000.
void measure_windows_translation(Session& session);
/// Coupled cluster on this transport and on native ones, in the same rounds.
void measure_windows_ccsd(Session& session);

/// The design's limits for transport mpi.
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
