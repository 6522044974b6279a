// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/detail/order_graph.hpp"

#include <algorithm>
#include <new>

namespace tessera::arrays::detail {

void OrderTable::add(const rma::OrderCall& call, std::uint64_t number) noexcept {
  try {
    const std::pair key(epoch_, call.object);
    is_complete_ = is_complete_ && call.object != rma::OrderCall::any_object;
    if (entries_.size() >= max_entries && !entries_.contains(key)) {
      is_complete_ = false;
      return;
    }
    OrderEntry& entry = entries_[key];
    entry.object = call.object;
    if (call.kind != rma::OrderCall::Kind::release) {
      entry.first_acquire = std::min(entry.first_acquire, number);
    }
    if (call.kind != rma::OrderCall::Kind::acquire) {
      entry.release_end = std::max(entry.release_end, number + 1);
    }
  } catch (const std::bad_alloc&) {
    is_complete_ = false;
  }
}

std::vector<OrderEntry> OrderTable::take() {
  std::vector<OrderEntry> all;
  all.reserve(entries_.size());
  for (auto& [key, entry] : entries_) {
    entry.age = epoch_ - key.first;
    all.push_back(entry);
  }
  entries_.clear();
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

void OrderGraph::reach(const OrderPlace& from, std::uint64_t age) {
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

bool OrderGraph::may_precede(const OrderPlace& from, const OrderPlace& to, std::uint64_t age) {
  if (age_ != age || from_.member != from.member || from_.number != from.number) {
    reach(from, age);
  }
  return reached_[to.member] < to.number;
}

}  // namespace tessera::arrays::detail
