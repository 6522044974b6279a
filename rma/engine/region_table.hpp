// SPDX-License-Identifier: BSD-3-Clause
//
// RegionTable: from a region's number to where its slices are mapped. The first thing that every
// one-sided operation does, so it is one hash probe into a flat table, without a lock.
//
// Linear probing, at most half full; a search looks at no more places than the longest probe that
// an insertion ever needed, so that removal leaves no mark behind.
//
// Readers run while another thread inserts, removes or grows: an entry's number is stored last and
// cleared first, and an outgrown table is kept until the job ends, so that nobody reads freed
// memory. All tables together are at most twice the last one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "rma/region.hpp"

namespace tessera::rma::detail {

class RegionState;

/// What the fast paths need to know of a region; one cache line.
struct alignas(64) RegionEntry {
  static constexpr std::uint32_t empty = 0;

  std::atomic<std::uint32_t> id{empty};
  std::uint32_t flags = 0;
  // Where slices can be loaded from and stored to. `order` has an entry for each of the `reach`
  // ranks from `first_rank` on: the order of that rank's slice, or −1. A region whose slices are
  // not mapped, or lie irregularly, has reach 0; the slow path knows what to do with it.
  std::int32_t first_rank = 0;
  std::uint32_t reach = 0;
  const std::int32_t* order = nullptr;
  std::byte* base = nullptr;  ///< of the slice of order 0
  std::size_t stride = 0;     ///< between slices
  std::size_t bytes = 0;      ///< of each slice
  RegionState* state = nullptr;

  /// The start of the slice of `at`, when it is mapped and has the `bytes` from at.offset on; else
  /// null.
  [[nodiscard]] std::byte* slice(const RemoteAddress& at, std::size_t wanted) const noexcept {
    const auto index = static_cast<std::uint32_t>(at.rank.value - first_rank);
    if (index >= reach || wanted > bytes || at.offset > bytes - wanted || order[index] < 0) {
      return nullptr;
    }
    return base + static_cast<std::size_t>(order[index]) * stride;
  }
};

/// RegionEntry::flags: read-modify-write takes the accumulate locks.
inline constexpr std::uint32_t strict_atomics_flag = 1;

/// Stands, by its address, for a time during which no region of a job was removed.
struct RegionEpoch {};

class RegionTable {
 public:
  RegionTable();

  /// What was found in the table is so while this stays the same.
  [[nodiscard]] const RegionEpoch* epoch() const noexcept {
    return epoch_.load(std::memory_order_acquire);
  }
  /// The same, to hold on to: no later epoch has its address meanwhile.
  [[nodiscard]] std::shared_ptr<const RegionEpoch> shared_epoch() const {
    const std::lock_guard guard(mutex_);
    return epoch_owner_;
  }

  /// The entry of `id`; null when there is none.
  [[nodiscard]] const RegionEntry* find(RegionId id) const noexcept {
    const Table& table = *current_.load(std::memory_order_acquire);
    const RegionEntry& first = table.entries[id.value & table.mask];
    if (first.id.load(std::memory_order_acquire) == id.value) [[likely]] {
      return &first;
    }
    return find_further(table, id);
  }

  /// Adds an entry for `id`, which is not 0, described by the other fields of `entry`.
  void insert(RegionId id, const RegionEntry& entry);
  void remove(RegionId id);
  /// Removes all entries, so that every later operation finds its region closed.
  void clear();

  /// All states, for what concerns every region.
  [[nodiscard]] std::vector<RegionState*> states() const;

 private:
  struct Table {
    explicit Table(std::uint32_t capacity)
        : mask(capacity - 1), entries(std::make_unique<RegionEntry[]>(capacity)) {}
    std::uint32_t mask;
    std::atomic<std::uint32_t> longest_probe{0};
    std::unique_ptr<RegionEntry[]> entries;
  };

  static const RegionEntry* find_further(const Table& table, RegionId id) noexcept;
  static void place(Table& table, RegionId id, const RegionEntry& entry);
  void grow_if_full();
  void begin_epoch();

  std::atomic<Table*> current_;
  std::atomic<const RegionEpoch*> epoch_{nullptr};
  std::shared_ptr<const RegionEpoch> epoch_owner_;
  std::vector<std::unique_ptr<Table>> tables_;
  std::uint32_t live_ = 0;
  mutable std::mutex mutex_;  ///< for writers
};

}  // namespace tessera::rma::detail
