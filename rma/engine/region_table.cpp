// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/region_table.hpp"

#include <algorithm>
#include <utility>

namespace tessera::rma::detail {
namespace {
constexpr std::uint32_t first_capacity = 64;
}  // namespace

RegionTable::RegionTable() {
  tables_.push_back(std::make_unique<Table>(first_capacity));
  current_.store(tables_.back().get(), std::memory_order_release);
  spare_epochs_.push_back(std::make_shared<const RegionEpoch>());
  begin_epoch();
}

void RegionTable::begin_epoch() noexcept {
  epoch_owner_ = std::move(spare_epochs_.back());
  spare_epochs_.pop_back();
  epoch_.store(epoch_owner_.get(), std::memory_order_release);
}

RegionTable::Entry* RegionTable::entry_of(const Table& table, RegionId id) noexcept {
  const std::uint32_t longest = table.longest_probe.load(std::memory_order_acquire);
  for (std::uint32_t probe = 0; probe <= longest; ++probe) {
    Entry& entry = table.entries[(id.value + probe) & table.mask];
    if (entry.id.load(std::memory_order_acquire) == id.value) {
      return &entry;
    }
  }
  return nullptr;
}

RegionState* RegionTable::find(RegionId id) const noexcept {
  if (id.value == 0) {
    return nullptr;  // An address that was never set has number 0, which marks empty entries.
  }
  const Entry* const entry = entry_of(*current_.load(std::memory_order_acquire), id);
  return entry == nullptr ? nullptr : entry->state.load(std::memory_order_relaxed);
}

void RegionTable::store(Table& table, RegionId id, RegionState* state) {
  std::uint32_t probe = 0;
  while (table.entries[(id.value + probe) & table.mask].id.load(std::memory_order_relaxed) != 0) {
    ++probe;
  }
  Entry& free = table.entries[(id.value + probe) & table.mask];
  free.state.store(state, std::memory_order_relaxed);
  table.longest_probe.store(std::max(table.longest_probe.load(std::memory_order_relaxed), probe),
                            std::memory_order_release);
  free.id.store(id.value, std::memory_order_release);
}

void RegionTable::make_empty(Entry& entry) noexcept {
  entry.id.store(0, std::memory_order_release);
  entry.state.store(nullptr, std::memory_order_release);
}

void RegionTable::grow_if_full() {
  const Table& old = *tables_.back();
  const std::uint32_t capacity = old.mask + 1;
  if (live_ * 2 < capacity) {
    return;
  }
  auto bigger = std::make_unique<Table>(capacity * 2);
  for (std::uint32_t i = 0; i < capacity; ++i) {
    const std::uint32_t id = old.entries[i].id.load(std::memory_order_relaxed);
    if (id != 0) {
      store(*bigger, RegionId{id}, old.entries[i].state.load(std::memory_order_relaxed));
    }
  }
  tables_.push_back(std::move(bigger));
  current_.store(tables_.back().get(), std::memory_order_release);
}

void RegionTable::insert(RegionId id, RegionState& state) {
  const std::lock_guard guard(mutex_);
  grow_if_full();
  spare_epochs_.push_back(std::make_shared<const RegionEpoch>());
  store(*tables_.back(), id, &state);
  ++live_;
}

void RegionTable::remove(RegionId id) noexcept {
  const std::lock_guard guard(mutex_);
  if (id.value == 0) {
    return;  // number 0 marks empty entries
  }
  if (Entry* const found = entry_of(*tables_.back(), id)) {
    make_empty(*found);
    --live_;
    begin_epoch();
  }
}

void RegionTable::prepare_epoch() {
  const std::lock_guard guard(mutex_);
  spare_epochs_.push_back(std::make_shared<const RegionEpoch>());
}

void RegionTable::renew_epoch() noexcept {
  const std::lock_guard guard(mutex_);
  begin_epoch();
}

void RegionTable::clear() noexcept {
  const std::lock_guard guard(mutex_);
  make_empty(*tables_.back());
  if (std::exchange(live_, 0) > 0) {
    begin_epoch();
  }
}

void RegionTable::abandon_in_child() noexcept {
  static constexpr RegionEpoch over;
  make_empty(*current_.load());
  epoch_.store(&over, std::memory_order_release);
}

void RegionTable::make_empty(Table& table) noexcept {
  for (std::uint32_t i = 0; i <= table.mask; ++i) {
    make_empty(table.entries[i]);
  }
}

std::vector<RegionState*> RegionTable::states() const {
  const std::lock_guard guard(mutex_);
  std::vector<RegionState*> states;
  const Table& table = *tables_.back();
  for (std::uint32_t i = 0; i <= table.mask; ++i) {
    if (table.entries[i].id.load(std::memory_order_relaxed) != 0) {
      states.push_back(table.entries[i].state.load(std::memory_order_relaxed));
    }
  }
  return states;
}

}  // namespace tessera::rma::detail
