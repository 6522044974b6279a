// SPDX-License-Identifier: BSD-3-Clause
//
// How much memory may still be taken on this machine, so that asking for more is an error message
// and not the kernel's out-of-memory killer.
#pragma once

#include <cstdint>
#include <string>

#include "rma/result.hpp"

namespace tessera::rma {

/// Bytes that can still be allocated: what the kernel calls available, or what the control group
/// of this process leaves, whichever is less. Reads /proc and /sys; about 50 µs. Errors:
/// limit_exceeded (no descriptor is free).
Result<std::uint64_t> find_available_memory();

/// The same; 0 where it can't be known.
std::uint64_t available_memory_bytes();

/// Bytes of physical memory, or the control group's limit, whichever is less.
std::uint64_t total_memory_bytes();

/// Bytes that a file of this process may have, shared memory too (ulimit -f): to try more ends it
/// with SIGXFSZ. The largest number where there is no limit.
std::uint64_t largest_file_bytes() noexcept;

/// "23.1 GiB", for messages.
std::string human_bytes(std::uint64_t bytes);

}  // namespace tessera::rma
