// SPDX-License-Identifier: BSD-3-Clause
//
// Paths: how others go between nodes. Where nodes are played on one machine, MPI and OpenSHMEM may
// take memory that ranks of different nodes share: then their names say in every table and record
// that this is no network, "mpi in memory".
#pragma once

#include <string>
#include <string_view>

namespace tessera::bench {

/// What goes through memory between nodes.
struct PathsInMemory {
  bool mpi_messages = false;
  bool mpi_windows = false;
  bool openshmem = false;
};

/// Whether what `backend` names goes through memory: by its windows ("mpi", "armci-mpi"), its heap
/// ("openshmem"), or its messages (all else that begins with "mpi", and ScaLAPACK's).
bool goes_through_memory(std::string_view backend, const PathsInMemory& paths);

/// The name to show: "mpi two-sided" is "mpi two-sided in memory" where it goes through it. What
/// computed meanwhile still ends in "overlapped".
std::string name_by_path(const std::string& backend, const PathsInMemory& paths);

/// Whether a name of name_by_path() says so.
bool is_named_in_memory(std::string_view name);

}  // namespace tessera::bench
