// SPDX-License-Identifier: BSD-3-Clause
//
// Paths: how other libraries communicate between nodes. If one machine plays several nodes, MPI and
// OpenSHMEM may use memory that ranks of different nodes share. Their names then say in every table
// and record that no network was used: "mpi in memory".
#pragma once

#include <functional>
#include <initializer_list>
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

// MpiPath: whether MPI uses shared memory between two ranks of one host, according to its settings.
// MPI itself does not report it: MPI_T shows what was requested, not what was chosen.

/// How MPI communicates between two ranks.
struct MpiPath {
  bool messages_share_memory = false;
  bool windows_share_memory = false;
};

/// Reads an environment variable; null if it isn't set.
using Variable = std::function<const char*(const char* name)>;

/// Whether a setting of Open MPI allows any of `names`. The setting is a list of components or,
/// after `^`, of those not to use. Null or empty means that all are allowed.
bool may_use(const char* list, std::initializer_list<std::string_view> names);

/// For two ranks of one host, from the variables of Open MPI, UCX and MPICH. Open MPI uses UCX for
/// its messages if a setting says so, or if it may choose and finds a device of UCX's, a Mellanox
/// adapter. If settings leave several ways, assumes that it takes shared memory.
MpiPath mpi_path_on_a_host(const Variable& variable, bool has_its_devices);

}  // namespace tessera::bench
