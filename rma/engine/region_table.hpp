// SPDX-License-Identifier: BSD-3-Clause
//
// RegionTable: from a region's number to its state. One hash probe into a flat table, without a
// lock; threads remember what they found (engine/slice_cache.hpp).
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

  /// The state of region `id`; null when there is none.
  [[nodiscard]] RegionState* find(RegionId id) const noexcept;

  /// Adds region `id`, which is not 0 and not in the table. Throws std::bad_alloc, with nothing
  /// added.
  void insert(RegionId id, RegionState& state);
  void remove(RegionId id) noexcept;
  /// Takes the memory for one renew_epoch(). Throws std::bad_alloc, with nothing changed.
  void prepare_epoch();
  /// Threads look up anew what they knew of regions. Requires: prepare_epoch() was called for it.
  void renew_epoch() noexcept;
  /// Removes all entries, so that every later operation finds its region closed.
  void clear() noexcept;
  /// The same in a child made by fork(), where whoever has the lock of writers isn't there. Nothing
  /// may be looked up, inserted or removed behind it but by find() and epoch().
  void forsake() noexcept;

  /// All states, for what concerns every region.
  [[nodiscard]] std::vector<RegionState*> states() const;

 private:
  struct Entry {
    std::atomic<std::uint32_t> id{0};  ///< 0: empty
    std::atomic<RegionState*> state{nullptr};
  };
  struct Table {
    explicit Table(std::uint32_t capacity)
        : mask(capacity - 1), entries(std::make_unique<Entry[]>(capacity)) {}
    std::uint32_t mask;
    std::atomic<std::uint32_t> longest_probe{0};
    std::unique_ptr<Entry[]> entries;
  };

  static Entry* entry_of(const Table& table, RegionId id) noexcept;
  static void place(Table& table, RegionId id, RegionState* state);
  static void make_empty(Table& table) noexcept;
  static void make_empty(Entry& entry) noexcept;
  void grow_if_full();
  void begin_epoch() noexcept;

  std::atomic<Table*> current_;
  std::atomic<const RegionEpoch*> epoch_{nullptr};
  std::shared_ptr<const RegionEpoch> epoch_owner_;
  /// One for each region at least: to remove what there is takes no memory.
  std::vector<std::shared_ptr<const RegionEpoch>> epochs_to_come_;
  std::vector<std::unique_ptr<Table>> tables_;
  std::uint32_t live_ = 0;
  mutable std::mutex mutex_;  ///< for writers
};

}  // namespace tessera::rma::detail
