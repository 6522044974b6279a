// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/mpi/unflushed_changes.hpp"

#include <algorithm>
#include <functional>

namespace tessera::rma::mpi {
namespace {

bool is_short_put(const WindowAccess& access) noexcept {
  return access.effect.kind == Effect::Kind::write &&
         access.end - access.begin <= UnflushedChanges::max_short_bytes;
}

// Whether two operations on the same bytes have the same result in either order.
bool commute(const Effect& a, const Effect& b) noexcept {
  return a.kind == Effect::Kind::combine && a == b;
}

}  // namespace

void add_once(std::vector<ChangedWindow>& list, const ChangedWindow& window) noexcept {
  const bool is_known = std::any_of(list.begin(), list.end(), [&](const ChangedWindow& each) {
    return each.window == window.window;
  });
  if (!is_known) {
    list.push_back(window);
  }
}

void UnflushedChanges::reserve(std::size_t windows) {
  ranges_.reserve(max_ranges);
  windows_.reserve(windows);
}

// The index of the window's first range that ends at `begin` or later.
std::size_t UnflushedChanges::first_from(const Window* window, std::uint64_t begin) const noexcept {
  const auto first = std::lower_bound(
      ranges_.begin(), ranges_.end(), begin, [&](const Range& each, std::uint64_t place) {
        return each.window == window ? each.end < place : std::less<>()(each.window, window);
      });
  return static_cast<std::size_t>(first - ranges_.begin());
}

bool UnflushedChanges::must_precede(const WindowAccess& access) const noexcept {
  if (is_full_ || (has_long_ && is_short_put(access))) {
    return true;
  }
  for (std::size_t i = first_from(access.window, access.begin); i < ranges_.size(); ++i) {
    const Range& range = ranges_[i];
    if (range.window != access.window || range.begin >= access.end) {
      return false;
    }
    if (range.end > access.begin && !commute(range.effect, access.effect)) {
      return true;
    }
  }
  return false;
}

void UnflushedChanges::add(const WindowAccess& change) noexcept {
  add(ChangedWindow{change.window, change.rank});
  has_long_ = has_long_ || !is_short_put(change);
  Range merged{change.window, change.begin, change.end, change.effect};
  const std::size_t first = first_from(change.window, change.begin);
  std::size_t last = first;
  for (; last < ranges_.size() && ranges_[last].window == change.window &&
         ranges_[last].begin <= merged.end;
       ++last) {
    const Range& other = ranges_[last];
    merged.begin = std::min(merged.begin, other.begin);
    merged.end = std::max(merged.end, other.end);
    merged.effect = merged.effect == other.effect ? merged.effect : Effect::write();
  }
  const auto place = ranges_.begin() + static_cast<std::ptrdiff_t>(first);
  if (last > first) {
    *place = merged;
    ranges_.erase(place + 1, ranges_.begin() + static_cast<std::ptrdiff_t>(last));
  } else if (ranges_.size() < max_ranges) {
    ranges_.insert(place, merged);
  } else {
    is_full_ = true;
  }
}

void UnflushedChanges::forget(const Window& window) noexcept {
  const auto is_its = [&](const auto& each) { return each.window == &window; };
  std::erase_if(ranges_, is_its);
  std::erase_if(windows_, is_its);
}

void UnflushedChanges::clear() noexcept {
  ranges_.clear();
  windows_.clear();
  is_full_ = false;
  has_long_ = false;
}

}  // namespace tessera::rma::mpi
