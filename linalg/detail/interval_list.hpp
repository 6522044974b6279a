// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. IntervalList: some of a matrix's rows or columns, as half-open intervals in the order
// of use. For example, the rows that a rank owns in a cyclic distribution are such a list.
// Positions in the list count over all its intervals: in {[0,4), [8,12)} position 5 is row 9.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <vector>

namespace tessera::linalg::detail {

struct Interval {
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  [[nodiscard]] std::int64_t length() const noexcept { return hi - lo; }
  friend auto operator<=>(const Interval&, const Interval&) = default;
};

using IntervalList = std::vector<Interval>;

[[nodiscard]] inline std::int64_t total_length(const IntervalList& list) noexcept {
  std::int64_t length = 0;
  for (const Interval& interval : list) {
    length += interval.length();
  }
  return length;
}

/// Adds an interval at the end; merges it with the last one if it continues that.
inline void append_merged(IntervalList& list, const Interval& interval) {
  if (!list.empty() && list.back().hi == interval.lo) {
    list.back().hi = interval.hi;
  } else {
    list.push_back(interval);
  }
}

/// The same indices in as few intervals as possible.
[[nodiscard]] inline IntervalList merged(const IntervalList& list) {
  IntervalList few;
  for (const Interval& interval : list) {
    append_merged(few, interval);
  }
  return few;
}

/// The part of a list at positions [from, to). Requires: 0 ≤ from ≤ to ≤ total_length(list).
[[nodiscard]] inline IntervalList slice(const IntervalList& list, std::int64_t from,
                                        std::int64_t to) {
  IntervalList part;
  for (const Interval& interval : list) {
    const std::int64_t lo = std::max<std::int64_t>(from, 0);
    const std::int64_t hi = std::min(to, interval.length());
    if (lo < hi) {
      part.push_back({interval.lo + lo, interval.lo + hi});
    }
    from -= interval.length();
    to -= interval.length();
    if (to <= 0) {
      break;
    }
  }
  return part;
}

}  // namespace tessera::linalg::detail
