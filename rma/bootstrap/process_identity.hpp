// SPDX-License-Identifier: BSD-3-Clause
//
// A number that identifies a running process and no later one; process ids are reused.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace tessera::rma::detail {

/// Local. The identity of `process`: its id and its start time. 0 if it has ended, or if this
/// process's /proc doesn't show it. Cost: reads one file of /proc.
std::uint64_t identity_of(pid_t process) noexcept;

/// Local. The identity of this process, with its id as in /proc, maybe of another namespace.
std::uint64_t own_identity() noexcept;

/// Local. True if the process with that identity is still running.
bool is_running(std::uint64_t identity) noexcept;

/// The process id in an identity.
pid_t process_of(std::uint64_t identity) noexcept;

}  // namespace tessera::rma::detail
