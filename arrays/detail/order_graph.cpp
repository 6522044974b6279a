// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/detail/order_graph.hpp"

#include <algorithm>
#include <new>

namespace tessera::arrays::detail {

// The slot of an object's entry, or the empty slot for it.
std::size_t OrderTable::slot_of(std::uint64_t object, std::uint64_t epoch) const noexcept {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = rma::Label::mix(object, epoch) & mask;
  while (slots_[at] != 0 &&
         (entries_[slots_[at] - 1U].object != object || entries_[slots_[at] - 1U].age != epoch)) {
    at = (at + 1) & mask;
  }
  return at;
}

void OrderTable::grow() {
  constexpr std::size_t first_slots = 64;
  const std::size_t wanted = std::max(2 * slots_.size(), first_slots);
  entries_.reserve(wanted / 2);
  std::vector<std::uint16_t>(wanted).swap(slots_);
  for (std::size_t at = 0; at < entries_.size(); ++at) {
    slots_[slot_of(entries_[at].object, entries_[at].age)] = static_cast<std::uint16_t>(at + 1);
  }
}

// Returns null if the table is full.
OrderEntry* OrderTable::find_or_add(std::uint64_t object) {
  if (2 * entries_.size() >= slots_.size() && entries_.size() < max_entries) {
    grow();
  }
  std::uint16_t& slot = slots_[slot_of(object, epoch_)];
  if (slot == 0) {
    if (entries_.size() >= max_entries) {
      return nullptr;
    }
    entries_.push_back({.object = object, .age = epoch_});
    slot = static_cast<std::uint16_t>(entries_.size());
  }
  return &entries_[slot - 1U];
}

void OrderTable::add(const rma::OrderCall& call, std::uint64_t number) noexcept {
  try {
    is_complete_ = is_complete_ && call.object != rma::OrderCall::any_object;
    OrderEntry* const entry = find_or_add(call.object);
    if (entry == nullptr) {
      is_complete_ = false;
      return;
    }
    if (call.kind != rma::OrderCall::Kind::release) {
      entry->first_acquire = std::min(entry->first_acquire, number);
    }
    if (call.kind != rma::OrderCall::Kind::acquire) {
      entry->release_end = std::max(entry->release_end, number + 1);
    }
  } catch (const std::bad_alloc&) {
    is_complete_ = false;
  }
}

std::vector<OrderEntry> OrderTable::take() {
  std::vector<OrderEntry> all(entries_);
  for (OrderEntry& each : all) {
    each.age = epoch_ - each.age;
  }
  if (!entries_.empty()) {
    entries_.clear();
    std::fill(slots_.begin(), slots_.end(), std::uint16_t{0});
  }
  is_complete_ = true;
  return all;
}

OrderGraph::OrderGraph(std::vector<std::vector<OrderEntry>> by_member)
    : releases_(by_member.size()), reached_(by_member.size()) {
  for (std::size_t member = 0; member < by_member.size(); ++member) {
    for (const OrderEntry& each : by_member[member]) {
      if (each.release_end > 0) {
        releases_[member][each.age].push_back(each);
      }
      if (each.first_acquire != OrderEntry::never) {
        acquisitions_[{each.age, each.object}].push_back({member, each.first_acquire});
      }
    }
  }
}

void OrderGraph::reach(const CallPosition& from, std::uint64_t age) {
  std::fill(reached_.begin(), reached_.end(), OrderEntry::never);
  reached_[from.member] = from.number;
  std::vector<std::size_t> changed{from.member};
  while (!changed.empty()) {
    const std::size_t member = changed.back();
    changed.pop_back();
    const auto releases = releases_[member].find(age);
    if (releases == releases_[member].end()) {
      continue;
    }
    for (const OrderEntry& release : releases->second) {
      const auto acquired = acquisitions_.find({age, release.object});
      if (release.release_end <= reached_[member] || acquired == acquisitions_.end()) {
        continue;
      }
      for (const Acquisition& each : acquired->second) {
        if (each.member != member && each.number < reached_[each.member]) {
          reached_[each.member] = each.number;
          changed.push_back(each.member);
        }
      }
    }
  }
  from_ = from;
  age_ = age;
}

bool OrderGraph::may_precede(const CallPosition& from, const CallPosition& to, std::uint64_t age) {
  if (age_ != age || from_.member != from.member || from_.number != from.number) {
    reach(from, age);
  }
  return reached_[to.member] < to.number;
}

}  // namespace tessera::arrays::detail
