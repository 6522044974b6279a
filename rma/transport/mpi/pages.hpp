// SPDX-License-Identifier: BSD-3-Clause
//
// Pages of memory from MPI: allocated at once, so that exhausted memory is an error and not a
// signal.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rma/base/result.hpp"

namespace tessera::rma::mpi {

/// Local. Fresh pages of this process; null for 0 bytes. Errors: no_memory.
Result<std::byte*> map_pages(std::size_t bytes);
void unmap_pages(std::byte* pages, std::size_t bytes) noexcept;

/// Local. Zeroes `bytes`, and allocates their pages now. Errors: no_memory.
Status commit_pages(std::byte* from, std::size_t bytes);

/// Local. Makes `bytes` read as zero without allocating memory for them, as far as the kernel can.
/// Errors: as commit_pages().
Status zero_lazily(std::byte* from, std::size_t bytes);

/// Local. Errors: no_memory if this machine cannot provide `bytes` more; `is_in_file`: as shared
/// memory, for which /dev/shm must have room.
Status check_shared_memory(std::uint64_t bytes, bool is_in_file);

}  // namespace tessera::rma::mpi
