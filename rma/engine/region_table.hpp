// SPDX-License-Identifier: BSD-3-Clause
//
// RegionTable: maps a region's number to its state. A lookup is one hash probe into a flat table,
// without a lock; threads cache what they found (engine/slice_cache.hpp).
//
// Linear probing, at most half full. A search probes at most as many entries as the longest probe
// that any insertion needed, so removal leaves no tombstones.
//
// Readers run while another thread inserts, removes or grows. An entry's number is stored last and
// cleared first. An outgrown table is kept until the job ends, so that no reader sees freed memory.
// All tables together are at most twice as large as the last one.
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

/// Its address identifies a period during which no region of the job was removed.
struct RegionEpoch {};

class RegionTable {
 public:
  RegionTable();

  /// What a thread found in the table stays valid while this returns the same pointer.
  [[nodiscard]] const RegionEpoch* epoch() const noexcept {
    return epoch_.load(std::memory_order_acquire);
  }
  /// The same, as an owner: while it is held, no later epoch can have its address.
  [[nodiscard]] std::shared_ptr<const RegionEpoch> shared_epoch() const {
    const std::lock_guard guard(mutex_);
    return epoch_owner_;
  }

  /// The state of region `id`, or null if the table does not have it.
  [[nodiscard]] RegionState* find(RegionId id) const noexcept;

  /// Adds region `id`. Requires: `id` is not 0 and not in the table. Throws std::bad_alloc; then
  /// nothing was added.
  void insert(RegionId id, RegionState& state);
  void remove(RegionId id) noexcept;
  /// Allocates the memory for one renew_epoch(). Throws std::bad_alloc; then nothing changed.
  void prepare_epoch();
  /// Begins a new epoch, so that threads look up regions again. Requires: one prepare_epoch() for
  /// each call.
  void renew_epoch() noexcept;
  /// Removes all entries, so that every later operation finds its region closed.
  void clear() noexcept;
  /// As clear(), in a child made by fork(), where the thread that holds the writers' lock does not
  /// exist. Afterwards only find() and epoch() may be called.
  void abandon_in_child() noexcept;

  /// The states of all regions.
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
  static void store(Table& table, RegionId id, RegionState* state);
  static void make_empty(Table& table) noexcept;
  static void make_empty(Entry& entry) noexcept;
  void grow_if_full();
  void begin_epoch() noexcept;

  std::atomic<Table*> current_;
  std::atomic<const RegionEpoch*> epoch_{nullptr};
  std::shared_ptr<const RegionEpoch> epoch_owner_;
  /// At least one for each region, so that removing regions allocates nothing.
  std::vector<std::shared_ptr<const RegionEpoch>> spare_epochs_;
  std::vector<std::unique_ptr<Table>> tables_;
  std::uint32_t live_ = 0;
  mutable std::mutex mutex_;  ///< for writers
};

}  // namespace tessera::rma::detail
