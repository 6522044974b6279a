// SPDX-License-Identifier: BSD-3-Clause
//
// Pages of memory that MPI gave: taken at once, so that a full memory is an error and no signal.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rma/result.hpp"

namespace tessera::rma::mpi {

/// Local. Fresh pages of this process; null for 0 bytes. Errors: no_memory.
Result<std::byte*> map_pages(std::size_t bytes);
void unmap_pages(std::byte* pages, std::size_t bytes) noexcept;

/// Local. Zeroes `bytes`, whose pages are taken now. Errors: no_memory.
Status take_pages(std::byte* from, std::size_t bytes);

/// Local. Pages of `bytes` that are taken from now on lie on all NUMA nodes by turns, where the
/// kernel can.
void spread_pages(std::byte* from, std::size_t bytes) noexcept;
/// Local. Ends that.
void place_pages_near(std::byte* from, std::size_t bytes) noexcept;

/// Local. As far as the kernel can, makes `bytes` read as zero without taking memory for them.
/// Errors: as take_pages().
Status clear_lazily(std::byte* from, std::size_t bytes);

/// Local. Errors: no_memory where this machine cannot give `bytes` more; `is_in_file`: as shared
/// memory, for which /dev/shm must have room.
Status check_shared_memory(std::uint64_t bytes, bool is_in_file);

}  // namespace tessera::rma::mpi
