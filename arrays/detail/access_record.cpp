// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/detail/access_record.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>
#include <utility>

namespace tessera::arrays::detail {
namespace {

// Every step-th number of [lo, hi).
struct Progression {
  std::int64_t lo;
  std::int64_t hi;
  std::int64_t step;

  [[nodiscard]] std::int64_t first_from(std::int64_t least) const noexcept {
    return least <= lo ? lo : lo + (least - lo + step - 1) / step * step;
  }
  [[nodiscard]] bool contains(std::int64_t number) const noexcept {
    return number >= lo && number < hi && (number - lo) % step == 0;
  }
};

Progression along(const AccessRecord& access, int dim) noexcept {
  const std::int64_t step =
      access.steps.is_empty() ? 1 : std::max<std::int64_t>(access.steps[dim], 1);
  return {access.box.lo(dim), access.box.hi(dim), step};
}

// The first common number. Tries numbers of the sequence with the larger step. Their remainders
// modulo the smaller step repeat after at most that number of steps.
std::optional<std::int64_t> first_common(const Progression& a, const Progression& b) noexcept {
  const Progression& wide = a.step >= b.step ? a : b;
  const Progression& narrow = a.step >= b.step ? b : a;
  std::int64_t number = wide.first_from(narrow.lo);
  for (std::int64_t tried = 0; tried < narrow.step && number < std::min(a.hi, b.hi);
       ++tried, number += wide.step) {
    if (narrow.contains(number)) {
      return number;
    }
  }
  return std::nullopt;
}

// Whether `from` may have been ordered before `to`: by a call after `from` and one before `to`.
bool may_precede(const AccessRecord& from, const AccessRecord& to, bool is_one_clock) noexcept {
  return from.released && to.acquired && times_permit(from, to, is_one_clock);
}

// Whether the elements of both boxes, of which none is empty, form one box, or one contains the
// other.
bool merge_to_one_box(const Box& a, const Box& b) noexcept {
  int different = 0;
  bool meet = true;
  for (int dim = 0; dim < a.ndims(); ++dim) {
    different += a.lo(dim) != b.lo(dim) || a.hi(dim) != b.hi(dim) ? 1 : 0;
    meet = meet && a.lo(dim) <= b.hi(dim) && b.lo(dim) <= a.hi(dim);
  }
  return meet && (different <= 1 || a.contains(b) || b.contains(a));
}

bool can_merge(const AccessRecord& a, const AccessRecord& b) noexcept {
  if (a.kind != b.kind || a.epoch != b.epoch || a.first_byte != b.first_byte ||
      a.end_byte != b.end_byte) {
    return false;
  }
  return a.steps.is_empty() && b.steps.is_empty() ? merge_to_one_box(a.box, b.box)
                                                  : a.steps == b.steps && a.box == b.box;
}

// The merged access is treated as ordered if either of the two is.
bool merge(AccessRecord& into, const AccessRecord& other) noexcept {
  if (!can_merge(into, other)) {
    return false;
  }
  for (int dim = 0; dim < into.box.ndims(); ++dim) {
    into.box.set(dim, std::min(into.box.lo(dim), other.box.lo(dim)),
                 std::max(into.box.hi(dim), other.box.hi(dim)));
  }
  into.acquired = into.acquired || other.acquired;
  into.released = into.released || other.released;
  into.has_other_sites = into.has_other_sites || other.has_other_sites || into.site != other.site ||
                         into.phase != other.phase;
  into.orders = std::min(into.orders, other.orders);
  into.last_orders = std::max(into.last_orders, other.last_orders);
  into.first_time = std::min(into.first_time, other.first_time);
  into.last_time = std::max(into.last_time, other.last_time);
  return true;
}

bool is_same_call(const AccessRecord& a, const AccessRecord& b) noexcept {
  return a.orders == b.orders && a.site == b.site && a.phase == b.phase;
}

// An order in which boxes that follow each other along `dim` are neighbours.
bool is_before(const AccessRecord& a, const AccessRecord& b, int dim) noexcept {
  const auto key = [](const AccessRecord& access) {
    return std::tuple(access.epoch, access.kind, access.first_byte, access.end_byte);
  };
  if (key(a) != key(b)) {
    return key(a) < key(b);
  }
  for (int other = 0; other < a.box.ndims(); ++other) {
    if (other != dim && a.box.lo(other) != b.box.lo(other)) {
      return a.box.lo(other) < b.box.lo(other);
    }
  }
  return a.box.lo(dim) < b.box.lo(dim);
}

}  // namespace

std::string_view to_string(AccessKind kind) noexcept {
  constexpr std::array<std::string_view, access_kinds> names{
      "put",          "get",         "accumulate",       "atomic operation",
      "local access", "local write", "ghost cell update"};
  const auto index = static_cast<std::size_t>(kind);
  return index < names.size() ? names[index] : "unknown";
}

// Words never tear, so an atomic operation does not conflict with reads. A local write conflicts
// with gets only, since the change may come from another rank's put (race_search.cpp).
bool conflict(AccessKind a, AccessKind b, bool is_strict) noexcept {
  using enum AccessKind;
  a = a == halo ? get : a;
  b = b == halo ? get : b;
  const auto is = [&](AccessKind one, AccessKind other) {
    return (a == one && b == other) || (a == other && b == one);
  };
  if (a == put || b == put) {
    return a != local_write && b != local_write;
  }
  return is(accumulate, get) || is(accumulate, local_read) || is(get, local_write) ||
         (is(accumulate, atomic) && !is_strict);
}

std::optional<Box> overlap(const AccessRecord& a, const AccessRecord& b) noexcept {
  if (a.first_byte >= b.end_byte || b.first_byte >= a.end_byte) {
    return std::nullopt;
  }
  Box common = intersect(a.box, b.box);
  if (common.is_empty()) {
    return std::nullopt;
  }
  if (a.steps.is_empty() && b.steps.is_empty()) {
    return common;
  }
  for (int dim = 0; dim < common.ndims(); ++dim) {
    const auto first = first_common(along(a, dim), along(b, dim));
    if (!first) {
      return std::nullopt;
    }
    common.set(dim, *first, common.hi(dim));
  }
  return common;
}

bool may_be_ordered(const AccessRecord& a, const AccessRecord& b, bool is_one_clock) noexcept {
  return may_precede(a, b, is_one_clock) || may_precede(b, a, is_one_clock);
}

// A box that grew may form one with the box before it, as rows do when a plane is complete.
void AccessList::merge_last_with_earlier(std::uint32_t& last) noexcept {
  while (last > epoch_begin_ && std::size_t{last} + 1 == access_records_.size() &&
         is_same_call(access_records_[last - 1], access_records_[last]) &&
         merge(access_records_[last - 1], access_records_[last])) {
    access_records_.pop_back();
    --last;
  }
}

bool AccessList::add(const AccessRecord& access) {
  std::uint32_t& last =
      last_[(access.site + static_cast<std::uint32_t>(access.kind) * 5) % remembered_calls];
  if (last < access_records_.size() && is_same_call(access_records_[last], access) &&
      merge(access_records_[last], access)) {
    merge_last_with_earlier(last);
    return true;
  }
  if (access_records_.size() == max_records && !is_full_) {
    compact();
    is_full_ = access_records_.size() > max_records / 4 * 3;
  }
  if (access_records_.size() == max_records) {
    return false;
  }
  access_records_.push_back(access);
  last = static_cast<std::uint32_t>(access_records_.size() - 1);
  return true;
}

// Merges neighbouring accesses even if ordering calls lie between them; merged ones are then
// treated as ordered more often. Does so along each dimension, since boxes that are neighbours
// along one dimension may alternate with other boxes in the list.
void AccessList::compact() {
  const std::uint32_t epoch =
      epoch_begin_ < access_records_.size() ? access_records_[epoch_begin_].epoch : none;
  std::vector<std::uint32_t> order;
  std::vector<AccessRecord> kept;
  order.reserve(access_records_.size());
  kept.reserve(access_records_.size());
  for (int dim = access_records_.front().box.ndims(); dim-- > 0;) {
    order.resize(access_records_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return is_before(access_records_[a], access_records_[b], dim);
    });
    kept.clear();
    for (const std::uint32_t at : order) {
      if (kept.empty() || !merge(kept.back(), access_records_[at])) {
        kept.push_back(access_records_[at]);
      }
    }
    access_records_.swap(kept);
  }
  last_.fill(none);
  epoch_begin_ = static_cast<std::size_t>(
      std::count_if(access_records_.begin(), access_records_.end(),
                    [&](const AccessRecord& each) { return each.epoch != epoch; }));
}

std::vector<AccessRecord> AccessList::take() noexcept {
  last_.fill(none);
  epoch_begin_ = 0;
  is_full_ = false;
  std::vector<AccessRecord> taken = std::move(access_records_);
  access_records_ = std::move(spare_);
  spare_ = {};
  return taken;
}

void AccessList::give_back(std::vector<AccessRecord> taken) noexcept {
  taken.clear();
  spare_ = std::move(taken);
}

}  // namespace tessera::arrays::detail
