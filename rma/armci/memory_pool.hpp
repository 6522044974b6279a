// SPDX-License-Identifier: BSD-3-Clause
//
// MemoryPool: memory that one process allocates alone and that others may use (ARMCI_Memget).
//
// Remotely accessible memory comes from collective allocation. So at the start every process
// reserves address space, TESSERA_TUNE=armci_memget MiB, in one sparse region. The system provides
// memory at the first access to a page, and gets it back when the job ends. Allocation takes the
// lowest gap: only the beginning of the slice, up to the last byte that was ever taken, needs to be
// registered with an RDMA device.
//
// Threads: take and give_back from any; collective functions, one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "rma/base/result.hpp"
#include "rma/job.hpp"
#include "rma/region.hpp"

namespace tessera::rma::armci {

class MemoryPool {
 public:
  MemoryPool() = default;
  /// Collective over all processes.
  static Result<MemoryPool> create(Job& job);
  MemoryPool(MemoryPool&& other) noexcept : MemoryPool() { *this = std::move(other); }
  MemoryPool& operator=(MemoryPool&& other) noexcept;
  Status free() { return region_ ? region_.free() : Status(); }

  /// Local. The offset of `bytes` bytes in this process's slice; they are zeroed when first taken.
  /// Errors: invalid_argument for 0 bytes, limit_exceeded.
  Result<std::uint64_t> take(std::uint64_t bytes);
  /// Local. Errors: invalid_argument if these bytes are not taken.
  Status give_back(std::uint64_t offset, std::uint64_t bytes);

  /// Size of the reserve of each process.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

  [[nodiscard]] Region& region() noexcept { return region_; }

 private:
  Region region_;
  std::uint64_t bytes_ = 0;
  std::uint64_t in_use_ = 0;  ///< up to the end of the last byte that was ever taken
  std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> free_;   ///< offset → bytes
  std::map<std::uint64_t, std::uint64_t> taken_;  ///< offset → bytes
};

}  // namespace tessera::rma::armci
