// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/detail/access_record.hpp"

#include <algorithm>
#include <array>
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

// The first common number. Tries numbers of the sequence with the larger step; they repeat modulo
// the smaller step, so that many attempts suffice.
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

// Whether the elements of both boxes form one box, or one box contains the other.
bool merge_to_one_box(const Box& a, const Box& b) noexcept {
  int different = 0;
  bool meet = true;
  for (int dim = 0; dim < a.ndims(); ++dim) {
    if (a.lo(dim) != b.lo(dim) || a.hi(dim) != b.hi(dim)) {
      ++different;
      meet = meet && a.lo(dim) <= b.hi(dim) && b.lo(dim) <= a.hi(dim);
    }
  }
  return (different <= 1 && meet) || a.contains(b) || b.contains(a);
}

bool can_merge(const AccessRecord& a, const AccessRecord& b) noexcept {
  return a.kind == b.kind && a.epoch == b.epoch && a.first_byte == b.first_byte &&
         a.end_byte == b.end_byte && a.steps.is_empty() && b.steps.is_empty();
}

// The merged access counts as ordered if either of them does.
bool merge(AccessRecord& into, const AccessRecord& other) noexcept {
  const bool is_same_section = into.steps == other.steps && into.box == other.box &&
                               into.kind == other.kind && into.epoch == other.epoch &&
                               into.first_byte == other.first_byte &&
                               into.end_byte == other.end_byte;
  if (!is_same_section && !(can_merge(into, other) && merge_to_one_box(into.box, other.box))) {
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
  into.first_ns = std::min(into.first_ns, other.first_ns);
  into.last_ns = std::max(into.last_ns, other.last_ns);
  return true;
}

bool is_before(const AccessRecord& a, const AccessRecord& b) noexcept {
  const auto key = [](const AccessRecord& access) {
    return std::tuple(access.epoch, access.kind, access.first_byte, access.end_byte);
  };
  if (key(a) != key(b)) {
    return key(a) < key(b);
  }
  return std::lexicographical_compare(a.box.lo().begin(), a.box.lo().end(), b.box.lo().begin(),
                                      b.box.lo().end());
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

// A box that grew may form one with an earlier box, as rows do when a plane is complete.
bool AccessList::merge_into_recent(AccessRecord& access) {
  constexpr std::size_t looked_at = 8;
  const std::size_t first = access_records_.size() - std::min(looked_at, access_records_.size());
  for (std::size_t at = access_records_.size(); at-- > first;) {
    const AccessRecord& earlier = access_records_[at];
    const bool is_same_call = earlier.orders == access.orders && earlier.site == access.site &&
                              earlier.phase == access.phase;
    if (is_same_call && merge(access, earlier)) {
      access_records_.erase(access_records_.begin() + static_cast<std::ptrdiff_t>(at));
      return true;
    }
  }
  return false;
}

bool AccessList::add(AccessRecord access) {
  while (merge_into_recent(access)) {
  }
  if (access_records_.size() == max_records && !is_full_) {
    compact();
    is_full_ = access_records_.size() > max_records / 4 * 3;
  }
  if (access_records_.size() == max_records) {
    return false;
  }
  access_records_.push_back(access);
  return true;
}

// Merges accesses with any calls between them; the merged ones then count as ordered more often.
void AccessList::compact() {
  std::sort(access_records_.begin(), access_records_.end(), is_before);
  std::vector<AccessRecord> kept;
  for (const AccessRecord& access : std::exchange(access_records_, {})) {
    if (kept.empty() || !merge(kept.back(), access)) {
      kept.push_back(access);
    }
  }
  access_records_ = std::move(kept);
}

}  // namespace tessera::arrays::detail
