// SPDX-License-Identifier: BSD-3-Clause
//
// AddressTable: maps a raw pointer to the region that it points into, for programs that name remote
// memory by (rank, pointer), as ARMCI's do.
//
// Two ranges of addresses have a table with one entry per granule (64 KiB), so that a lookup is one
// division and one load. One is the node's arena, which holds the slices of same-node ranks. The
// other is reserved and never mapped; slices on other nodes get unique addresses there, which trap
// if touched. All other memory (attached memory anywhere, or memory of a transport that allocates
// its own) is found in a sorted map.
//
// Threads: safe; lookups in the two ranges take no lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "rma/base/result.hpp"
#include "rma/node/node_memory.hpp"
#include "rma/region.hpp"

namespace tessera::rma::detail {

/// A range of addresses with one region number for each granule.
class GranuleTable {
 public:
  /// For [base, base + bytes). Errors: no_memory.
  static Result<std::unique_ptr<GranuleTable>> create(const std::byte* base, std::uint64_t bytes);
  ~GranuleTable();
  GranuleTable(const GranuleTable&) = delete;
  GranuleTable& operator=(const GranuleTable&) = delete;

  [[nodiscard]] bool covers(const void* pointer) const noexcept {
    return reinterpret_cast<std::uintptr_t>(pointer) - base_ < bytes_;
  }
  /// The region at `pointer`, or number 0. Requires: covers(pointer).
  [[nodiscard]] RegionId find(const void* pointer) const noexcept {
    const std::uint64_t at = (reinterpret_cast<std::uintptr_t>(pointer) - base_) / granule_bytes;
    return RegionId{entries_[at].load(std::memory_order_acquire)};
  }
  /// Requires: the range is covered and granule-aligned at its start.
  void assign(const std::byte* from, std::uint64_t bytes, RegionId region) noexcept;

 private:
  GranuleTable(std::uintptr_t base, std::uint64_t bytes,
               std::atomic<std::uint32_t>* entries) noexcept
      : base_(base), bytes_(bytes), entries_(entries) {}
  std::uintptr_t base_;
  std::uint64_t bytes_;
  std::atomic<std::uint32_t>* entries_;
};

class AddressTable {
 public:
  /// For the arena at [base, base + bytes). Errors: no_memory.
  static Result<std::unique_ptr<AddressTable>> create(const std::byte* arena, std::uint64_t bytes);
  ~AddressTable();
  AddressTable(const AddressTable&) = delete;
  AddressTable& operator=(const AddressTable&) = delete;

  /// Records that memory which was allocated for `region` is a slice of it, or no longer is one.
  void assign(const std::byte* from, std::uint64_t bytes, RegionId region);
  void withdraw(const std::byte* from, std::uint64_t bytes, RegionId region);
  /// The same for memory that existed before, perhaps as part of a slice, and that may be attached
  /// several times. A slice's own region is found first, then the one that was attached last.
  void attach(const std::byte* from, std::uint64_t bytes, RegionId region);
  void detach(const std::byte* from, RegionId region);

  /// Reserves unmapped addresses for slices on other nodes. Errors: limit_exceeded.
  Result<std::byte*> reserve_foreign(std::uint64_t bytes, RegionId region);
  /// Releases them. If there is no memory to record that, they stay reserved.
  void release_foreign(std::byte* from, std::uint64_t bytes) noexcept;

  /// The region that `pointer` points into, or number 0.
  [[nodiscard]] RegionId find(const void* pointer) const {
    if (arena_->covers(pointer)) [[likely]] {
      const RegionId region = arena_->find(pointer);
      return region.value != 0 ? region : find_in_map(pointer);
    }
    return find_outside_arena(pointer);
  }

 private:
  explicit AddressTable(std::unique_ptr<GranuleTable> arena) noexcept : arena_(std::move(arena)) {}
  Status make_foreign_range();
  void join_gaps_at(std::map<std::uint64_t, std::uint64_t>::iterator gap) noexcept;
  [[nodiscard]] RegionId find_outside_arena(const void* pointer) const;
  [[nodiscard]] RegionId find_in_map(const void* pointer) const;

  struct Piece {
    std::uint64_t bytes = 0;
    RegionId region;
  };
  std::unique_ptr<GranuleTable> arena_;
  mutable std::mutex mutex_;
  std::multimap<std::uintptr_t, Piece> unmapped_pieces_;  ///< by first address, then by age
  std::uint64_t max_piece_bytes_ = 0;                     ///< of all pieces so far
  std::atomic<const GranuleTable*> foreign_view_{nullptr};
  std::unique_ptr<GranuleTable> foreign_;
  std::byte* foreign_base_ = nullptr;
  std::uint64_t foreign_bytes_ = 0;
  std::map<std::uint64_t, std::uint64_t> foreign_free_;  ///< offset → bytes
};

}  // namespace tessera::rma::detail
