// SPDX-License-Identifier: BSD-3-Clause
//
// MpiPath: whether MPI goes through memory between two ranks of one host, as its settings tell.
// MPI itself doesn't: MPI_T has what was asked for, not what was chosen.
#pragma once

#include <functional>
#include <initializer_list>
#include <string_view>

namespace tessera::bench {

/// How MPI goes between two ranks.
struct MpiPath {
  bool messages_share_memory = false;
  bool windows_share_memory = false;
};

/// The value of a variable of the environment; null where it isn't set.
using Variable = std::function<const char*(const char* name)>;

/// Whether a setting of Open MPI, a list of components or, behind `^`, of those that it shall not
/// use, leaves it any of `names`. Null or empty, without the setting: it has all.
bool may_use(const char* list, std::initializer_list<std::string_view> names);

/// Of two ranks of one host, from the variables of Open MPI, UCX and MPICH. Open MPI takes UCX for
/// its messages where it is told to, or where it may choose and has one of its devices, Mellanox
/// adapters. Where settings leave it several ways, memory is what it may take.
MpiPath mpi_path_on_a_host(const Variable& variable, bool has_its_devices);

}  // namespace tessera::bench
