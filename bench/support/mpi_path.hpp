// SPDX-License-Identifier: BSD-3-Clause
//
// MpiPath: whether MPI uses shared memory between two ranks of one host, according to its settings.
// MPI itself does not report it: MPI_T shows what was requested, not what was chosen.
#pragma once

#include <functional>
#include <initializer_list>
#include <string_view>

namespace tessera::bench {

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
