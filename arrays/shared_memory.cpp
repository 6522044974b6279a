// SPDX-License-Identifier: BSD-3-Clause
//
// Whether arrays share memory, as overlays do.

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "arrays/array_base.hpp"

namespace tessera::arrays {
namespace {

// A contiguous range of bytes of a member's slice.
struct Run {
  std::int32_t owner = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

void add_runs(const Patch& patch, std::int64_t bytes, std::vector<Run>& runs) {
  const int fastest = patch.order == MemoryOrder::row_major ? patch.box.ndims() - 1 : 0;
  Extents lines = patch.box.extents();
  lines[fastest] = 1;
  Index at = Index::zeros(lines.ndims());
  const Index first = at;
  do {
    const std::int64_t begin = (patch.offset + distance(first, at, patch.strides)) * bytes;
    const std::int64_t end = begin + patch.box.extent(fastest) * bytes;
    if (!runs.empty() && runs.back().owner == patch.owner.value && runs.back().end == begin) {
      runs.back().end = end;
    } else {
      runs.push_back({patch.owner.value, begin, end});
    }
  } while (advance(at, lines, patch.order));
}

std::vector<Run> sorted_runs(const ArrayBase& array, const Box& box) {
  std::vector<Run> runs;
  for (const Patch& patch : array.distribution().patches(box)) {
    add_runs(patch, static_cast<std::int64_t>(array.element_bytes()), runs);
  }
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) {
    return std::tie(a.owner, a.begin) < std::tie(b.owner, b.begin);
  });
  return runs;
}

// Whether runs of two lists share bytes. Runs of one list don't share bytes.
bool do_meet(const std::vector<Run>& some, const std::vector<Run>& others) {
  auto other = others.begin();
  for (const Run& run : some) {
    const auto is_before = [&](const Run& candidate) {
      return std::tie(candidate.owner, candidate.end) <= std::tie(run.owner, run.begin);
    };
    while (other != others.end() && is_before(*other)) {
      ++other;
    }
    if (other != others.end() && other->owner == run.owner && other->begin < run.end) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool is_same_layout(const ArrayBase& one, const ArrayBase& other) {
  return one.distribution() == other.distribution() && one.element_bytes() == other.element_bytes();
}

bool share_memory(const ArrayBase& one, const Box& one_box, const ArrayBase& other,
                  const Box& other_box) {
  if (one.region().id() != other.region().id() || one_box.is_empty() || other_box.is_empty()) {
    return false;
  }
  return is_same_layout(one, other)
             ? !intersect(one_box, other_box).is_empty()
             : do_meet(sorted_runs(one, one_box), sorted_runs(other, other_box));
}

}  // namespace tessera::arrays
