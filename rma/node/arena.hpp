// SPDX-License-Identifier: BSD-3-Clause
//
// Arena: allocates granules of a node's shared memory for any of its ranks.
//
// Strategy: first fit over a bitmap with one bit per granule of 64 KiB, under one robust lock. A
// bitmap stays valid after every store: a rank that dies inside leaks granules and breaks nothing.
// Address space and memory are separate: allocate() takes address space, back() commits memory.
//
// Cost: allocate and free are O(granules of the piece), plus a scan of the bitmap, where one word
// covers 4 MiB of arena. Unsuitable for small objects: the smallest piece is 64 KiB of address
// space (and 4 KiB of memory after back()).
//
// Threads and processes: safe; all ranks of the node share one bitmap.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rma/base/result.hpp"
#include "rma/node/node_memory.hpp"

namespace tessera::rma::detail {

class Arena {
 public:
  Arena(NodeMemory& memory, const LockContext& context) noexcept
      : memory_(memory), context_(context) {}

  /// Takes address space for `bytes` (rounded up to granules), aligned to `alignment`, a power of
  /// two (at least one granule). Returns its offset. Commits no memory.
  /// Errors: limit_exceeded if no gap is large enough.
  Result<std::uint64_t> allocate(std::uint64_t bytes, std::uint64_t alignment = granule_bytes);

  /// Commits memory for [offset, offset + bytes) at once, so that exhausted memory is an error here
  /// and not a SIGBUS later. The bytes read as zero. If memory is short, waits for other jobs and
  /// nodes of the machine that do the same.
  /// Errors: no_memory; nothing is taken then.
  Status back(std::uint64_t offset, std::uint64_t bytes);

  /// Errors: no_memory if `bytes` exceed what the machine can still give.
  [[nodiscard]] Status check_available(std::uint64_t bytes) const;

  /// Requests huge pages in [offset, offset + bytes); true if the kernel will try.
  bool advise_huge(std::uint64_t offset, std::uint64_t bytes) noexcept;

  /// Returns the memory but keeps the address space. Memory under keep() is cleared instead.
  void decommit(std::uint64_t offset, std::uint64_t bytes) noexcept;

  /// Returns address space and memory. Requires: `offset` and `bytes` as in allocate(), and no
  /// page placement but `local`.
  void free(std::uint64_t offset, std::uint64_t bytes) noexcept;

  /// Commits memory for [offset, offset + bytes) and keeps it committed, even if a rank frees it:
  /// for devices, which keep references to registered pages.
  /// Errors: no_memory. Requires: both are multiples of a granule.
  Status keep(std::uint64_t offset, std::uint64_t bytes);

  [[nodiscard]] std::byte* at(std::uint64_t offset) const noexcept {
    return memory_.base() + offset;
  }
  [[nodiscard]] NodeMemory& memory() const noexcept { return memory_; }

 private:
  /// Free granules.
  struct Gaps {
    std::uint64_t all = 0;
    std::uint64_t largest = 0;  ///< the longest contiguous run of them
  };
  [[nodiscard]] Gaps gaps() const noexcept;
  [[nodiscard]] bool needs_check(std::uint64_t bytes) noexcept;
  Status commit_checked(std::uint64_t offset, std::uint64_t bytes) const;
  Status take_memory(std::uint64_t offset, std::uint64_t bytes) const;
  [[nodiscard]] std::uint64_t* bitmap() const noexcept;
  [[nodiscard]] std::uint64_t* kept() const noexcept;
  [[nodiscard]] std::uint64_t granules() const noexcept;
  std::uint64_t find_gap(std::uint64_t count, std::uint64_t align_granules) const noexcept;

  NodeMemory& memory_;
  LockContext context_;
  std::atomic<std::uint64_t> unchecked_{0};  // bytes taken since the last check
};

}  // namespace tessera::rma::detail
