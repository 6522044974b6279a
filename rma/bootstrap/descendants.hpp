// SPDX-License-Identifier: BSD-3-Clause
//
// The descendants of a process: processes that a script leaves running if a signal ends it.
#pragma once

#include <sys/types.h>

#include <vector>

#include "rma/base/fd_passing.hpp"

namespace tessera::rma::detail {

/// Local. A pidfd of each current descendant of `process`; none if /proc doesn't show them. Cost:
/// reads some files of /proc for each of them.
std::vector<Descriptor> descendants_of(pid_t process);

}  // namespace tessera::rma::detail
