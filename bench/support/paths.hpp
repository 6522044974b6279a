// SPDX-License-Identifier: BSD-3-Clause
//
// Paths: how other libraries communicate between nodes. If one machine plays several nodes, MPI and
// OpenSHMEM may use memory that ranks of different nodes share. Their names then say in every table
// and record that no network was used: "mpi in memory".
#pragma once

#include <string>
#include <string_view>

namespace tessera::bench {

/// Which libraries communicate through shared memory between nodes.
struct PathsInMemory {
  bool mpi_messages = false;
  bool mpi_windows = false;
  bool openshmem = false;
};

/// Whether `backend` communicates through shared memory: by its windows ("mpi", "armci-mpi"), its
/// heap ("openshmem"), or its messages (other names that begin with "mpi", and ScaLAPACK's).
bool goes_through_memory(std::string_view backend, const PathsInMemory& paths);

/// The name to show: "mpi two-sided" becomes "mpi two-sided in memory" if it uses shared memory. A
/// name that ends in "overlapped" keeps that ending.
std::string name_by_path(const std::string& backend, const PathsInMemory& paths);

/// Whether name_by_path() marked a name.
bool is_named_in_memory(std::string_view name);

}  // namespace tessera::bench
