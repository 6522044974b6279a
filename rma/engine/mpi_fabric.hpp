// SPDX-License-Identifier: BSD-3-Clause
//
// What network MPI has on this machine, as far as the kernel and the environment show it.
#pragma once

#include <functional>
#include <string>

#include "rma/tuning.hpp"

namespace tessera::rma::detail {

/// A network between nodes that is not TCP's.
struct Fabric {
  std::string network;  ///< empty: MPI has none here
  std::string reason;   ///< why there is none, for people
};

/// The value of an environment variable; empty: it is not set.
using ReadVariable = std::function<std::string(const char*)>;

std::string environment_variable(const char* name);

/// Whether the transports are those of nobody's choice, of which mpi is for such networks only.
bool are_by_default(const Settings& settings);

/// Local. Paths are below `root`, which is "" but in tests.
Fabric find_fabric(const std::string& root = "", const ReadVariable& read = environment_variable);

}  // namespace tessera::rma::detail
