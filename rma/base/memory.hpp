// SPDX-License-Identifier: BSD-3-Clause
//
// How much memory this machine still has, so that a request for more is an error message and does
// not start the kernel's out-of-memory killer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "rma/base/result.hpp"

namespace tessera::rma {

/// A limit on memory, and how much of it is in use; bytes.
struct MemoryLimit {
  std::uint64_t limit = 0;
  std::uint64_t used = 0;

  [[nodiscard]] std::uint64_t left() const noexcept { return limit - std::min(limit, used); }
};

/// The limit on this process's address space (ulimit -v), which batch systems set; none if there is
/// no limit. The functions below do not include it: a node's memory has its address space from the
/// start, and does not grow with regions.
std::optional<MemoryLimit> address_space_limit() noexcept;

/// Bytes that can still be allocated, and the limit that decides.
struct AvailableMemory {
  std::uint64_t bytes = 0;
  std::uint64_t group_limit = 0;  ///< that of the control group; 0: the machine's memory decides

  /// "176.0 MiB are available of the 300.0 MiB of its control group", for messages.
  [[nodiscard]] std::string describe() const;
};

/// The memory that the kernel calls available, or what this process's control group leaves,
/// whichever is less. Reads /proc and /sys.
/// Errors: limit_exceeded (no file descriptor is free).
/// Cost: about 50 µs.
Result<AvailableMemory> find_available_memory();

/// Bytes that can still be allocated; 0 if unknown.
std::uint64_t available_memory_bytes();

/// Bytes of physical memory, or the control group's limit, whichever is less.
std::uint64_t total_memory_bytes();

/// The largest size in bytes of a file of this process, also of shared memory (ulimit -f). SIGXFSZ
/// ends a process that exceeds it. The largest number if there is no limit.
std::uint64_t max_file_bytes() noexcept;

/// The system's text for `error`, with the limit that caused it, if any: "Too many open files (this
/// process may have 1024)", "Cannot allocate memory (1.2 GiB are available)". For messages.
std::string describe_system_error(int error);

/// A remedy for `error` if a limit of the system caused it; else "". For hints.
const char* remedy_for_system_error(int error) noexcept;

/// "; 20.0 MiB are left of the 512.0 MiB of address space that this process may have", or "" if
/// address space is not limited. For messages.
std::string address_space_note();

/// "23.1 GiB", for messages.
std::string human_bytes(std::uint64_t bytes);

}  // namespace tessera::rma
