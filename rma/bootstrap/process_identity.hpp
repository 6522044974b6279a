// SPDX-License-Identifier: BSD-3-Clause
//
// A number for a running process that no later process has: process ids are used again.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace tessera::rma::detail {

/// Local. The identity of `process`: its id and its start time. 0 if it has ended, or if /proc of
/// this process doesn't show it. Cost: reads one file of /proc.
std::uint64_t identity_of(pid_t process) noexcept;

/// Local. That of this process, with its id as /proc has it, be it that of another name space.
std::uint64_t own_identity() noexcept;

/// Local. Whether the process with that identity is still running.
bool is_running(std::uint64_t identity) noexcept;

/// The process id in an identity.
pid_t process_of(std::uint64_t identity) noexcept;

}  // namespace tessera::rma::detail
