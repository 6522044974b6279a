// SPDX-License-Identifier: BSD-3-Clause
//
// How much memory may still be taken on this machine, so that asking for more is an error message
// and not the kernel's out-of-memory killer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "rma/result.hpp"

namespace tessera::rma {

/// A limit on memory, and what of it is taken.
struct MemoryLimit {
  std::uint64_t limit = 0;
  std::uint64_t used = 0;

  [[nodiscard]] std::uint64_t left() const noexcept { return limit - std::min(limit, used); }
};

/// The limit on this process's address space (ulimit -v), which batch systems set; none where there
/// is no limit. It is no part of what the functions below say: a node's memory has its address
/// space from the start, and takes none when regions get memory in it.
std::optional<MemoryLimit> address_space_limit() noexcept;

/// Bytes that can still be allocated, and which limit it is that leaves no more.
struct AvailableMemory {
  std::uint64_t bytes = 0;
  std::uint64_t group_limit = 0;  ///< that of the control group; 0: the machine has no more

  /// "176.0 MiB are available of the 300.0 MiB of its control group", for messages.
  [[nodiscard]] std::string describe() const;
};

/// What the kernel calls available, or what the control group of this process leaves, whichever is
/// less. Reads /proc and /sys; about 50 µs. Errors: limit_exceeded (no descriptor is free).
Result<AvailableMemory> find_available_memory();

/// Bytes that can still be allocated; 0 where it can't be known.
std::uint64_t available_memory_bytes();

/// Bytes of physical memory, or the control group's limit, whichever is less.
std::uint64_t total_memory_bytes();

/// Bytes that a file of this process may have, shared memory too (ulimit -f): to try more ends it
/// with SIGXFSZ. The largest number where there is no limit.
std::uint64_t largest_file_bytes() noexcept;

/// What the system says of `error`, with the limit that decided if there is one: "Too many open
/// files (this process may have 1024)", "Cannot allocate memory (1.2 GiB are available)". For
/// messages.
std::string describe_system_error(int error);

/// What helps against `error`, if a limit of the system decided; else "". For hints.
const char* remedy_for_system_error(int error) noexcept;

/// "; 20.0 MiB are left of the 512.0 MiB of address space that this process may have", or "" where
/// address space is not limited. For messages.
std::string address_space_note();

/// "23.1 GiB", for messages.
std::string human_bytes(std::uint64_t bytes);

}  // namespace tessera::rma
