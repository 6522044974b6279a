// SPDX-License-Identifier: BSD-3-Clause
//
// Arena: hands out granules of a node's shared memory to any of its ranks.
//
// Strategy: first fit over a bitmap, one bit a granule of 64 KiB, under one robust lock. A bitmap
// because every store leaves it valid: a rank that dies inside leaks granules and breaks nothing.
// Address space and memory are apart: allocate() takes addresses, back() takes memory.
//
// Cost: allocate and free are O(granules of the piece), plus a scan of the bitmap that covers
// 4 MiB of arena a word. Not good for small objects: the least piece is 64 KiB of address space
// (and 4 KiB of memory when backed).
//
// Threads and processes: safe; all ranks of the node share one bitmap.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rma/node/node_memory.hpp"
#include "rma/result.hpp"

namespace tessera::rma::detail {

enum class PagePlacement : std::uint8_t {
  near_taker,   ///< on the NUMA node of the process that takes the memory
  interleaved,  ///< page by page on all NUMA nodes that this process may use
};

class Arena {
 public:
  Arena(NodeMemory& memory, const LockContext& context) noexcept
      : memory_(memory), context_(context) {}

  /// Takes address space for `bytes` (rounded up to granules), aligned to `alignment` (a power of
  /// two, at least a granule is used). Returns its offset. No memory is taken yet.
  /// Errors: limit_exceeded when no gap is large enough.
  Result<std::uint64_t> allocate(std::uint64_t bytes, std::uint64_t alignment = granule_bytes);

  /// Takes memory for [offset, offset + bytes), all at once, so that a full memory is an error
  /// here and not a SIGBUS later. The bytes read as zero. The last memory of a machine is taken in
  /// turn with all other jobs and nodes there. Errors: no_memory; nothing is taken then.
  Status back(std::uint64_t offset, std::uint64_t bytes);

  /// Errors: no_memory when `bytes` are more than the machine can still give.
  [[nodiscard]] Status check_available(std::uint64_t bytes) const;

  /// Asks for huge pages in [offset, offset + bytes); true when the kernel will try.
  bool advise_huge(std::uint64_t offset, std::uint64_t bytes) noexcept;

  /// Tells where pages of [offset, offset + bytes) that are taken from now on shall lie. Whoever
  /// frees the piece tells `near_taker` before. Without effect where the kernel can't.
  void place_pages(std::uint64_t offset, std::uint64_t bytes, PagePlacement placement) noexcept;

  /// Gives memory back, keeps the address space. Memory that is kept is cleared instead.
  void unback(std::uint64_t offset, std::uint64_t bytes) noexcept;

  /// Gives address space and memory back. Requires: `offset` and `bytes` as in allocate().
  void free(std::uint64_t offset, std::uint64_t bytes) noexcept;

  /// Takes memory for all that lies between `offset` and `offset + bytes` and keeps it, whoever
  /// frees what is there: for devices, which hold on to pages that they were told of.
  /// Errors: no_memory. Requires: both are multiples of a granule.
  Status keep(std::uint64_t offset, std::uint64_t bytes);

  [[nodiscard]] std::byte* at(std::uint64_t offset) const noexcept {
    return memory_.base() + offset;
  }
  [[nodiscard]] NodeMemory& memory() const noexcept { return memory_; }

 private:
  /// Granules that are free.
  struct Gaps {
    std::uint64_t all = 0;
    std::uint64_t largest = 0;  ///< of them in one piece
  };
  [[nodiscard]] Gaps gaps() const noexcept;
  [[nodiscard]] bool is_to_be_checked(std::uint64_t bytes) noexcept;
  Status take_checked(std::uint64_t offset, std::uint64_t bytes) const;
  Status take_memory(std::uint64_t offset, std::uint64_t bytes) const;
  [[nodiscard]] std::uint64_t* bitmap() const noexcept;
  [[nodiscard]] std::uint64_t* kept() const noexcept;
  [[nodiscard]] std::uint64_t granules() const noexcept;
  std::uint64_t find_gap(std::uint64_t count, std::uint64_t align_granules) const noexcept;

  NodeMemory& memory_;
  LockContext context_;
  std::atomic<std::uint64_t> unchecked_{0};  // bytes that were taken since it was last checked
};

}  // namespace tessera::rma::detail
