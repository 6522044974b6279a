// SPDX-License-Identifier: BSD-3-Clause
//
// MemoryPool: memory that a process takes alone and that others may use (ARMCI_Memget).
//
// Memory that others can use comes from collective allocation. So all processes set address space
// aside at the start, TESSERA_ARMCI_MEMGET MiB each, in one sparse region: memory is taken where it
// is touched, and goes back to the system when the job ends. Between nodes with RDMA devices may be
// given the part that was ever taken, which is the beginning: the lowest gap is taken first.
//
// Threads: take and give_back from any; what is collective, one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "rma/job.hpp"
#include "rma/region.hpp"
#include "rma/result.hpp"

namespace tessera::rma::armci {

class MemoryPool {
 public:
  MemoryPool() = default;
  /// Collective over all processes.
  static Result<MemoryPool> create(Job& job);
  MemoryPool(MemoryPool&& other) noexcept : MemoryPool() { *this = std::move(other); }
  MemoryPool& operator=(MemoryPool&& other) noexcept;
  Status free() { return region_ ? region_.free() : Status(); }

  /// Local. The offset of `bytes` bytes in this process's slice; zeroed the first time they are
  /// taken. Errors: invalid_argument for none, limit_exceeded.
  Result<std::uint64_t> take(std::uint64_t bytes);
  /// Local. Errors: invalid_argument where not as many bytes are taken.
  Status give_back(std::uint64_t offset, std::uint64_t bytes);

  /// Of each process.
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
