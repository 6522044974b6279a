// SPDX-License-Identifier: BSD-3-Clause
//
// Finds which network MPI has on this machine, as far as the kernel and the environment show it.
#pragma once

#include <functional>
#include <string>

#include "rma/tuning.hpp"

namespace tessera::rma::detail {

/// A network between nodes that is not TCP.
struct MpiNetwork {
  std::string network;  ///< empty: MPI has none here
  std::string reason;   ///< why there is none, as text for users
};

/// The value of an environment variable; empty: it is not set.
using ReadVariable = std::function<std::string(const char*)>;

std::string environment_variable(const char* name);

/// True if the user chose no transports. By default, mpi is used only for networks that are not
/// TCP.
bool are_default_transports(const Settings& settings);

/// Local. `root` is prepended to paths: "" except in tests.
MpiNetwork find_mpi_network(const std::string& root = "",
                            const ReadVariable& read = environment_variable);

}  // namespace tessera::rma::detail
