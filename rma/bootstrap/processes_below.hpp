// SPDX-License-Identifier: BSD-3-Clause
//
// The processes that one has started, and those that they have: what a script leaves behind when a
// signal ends it.
#pragma once

#include <sys/types.h>

#include <vector>

#include "rma/node/fd_passing.hpp"

namespace tessera::rma::detail {

/// Local. A pidfd of each process below `process`, as they are now; of none where /proc doesn't
/// tell. Cost: some files of /proc for each of them.
std::vector<Descriptor> processes_below(pid_t process);

}  // namespace tessera::rma::detail
