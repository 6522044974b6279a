// SPDX-License-Identifier: BSD-3-Clause
#include "apps/mg/initial.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace tessera::apps::mg {
namespace {

// Independent streams: stream l makes the elements l, l + 8, l + 16, … of a row. Eight hide the
// latency of a 64-bit multiplication, and fill one AVX-512 register.
constexpr std::int64_t streams = 8;

struct ValueRange {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t greatest = 0;
};

bool is_larger(const Candidate& a, const Candidate& b) {
  return a.value != b.value ? a.value > b.value : a.index < b.index;
}

bool is_smaller(const Candidate& a, const Candidate& b) {
  return a.value != b.value ? a.value < b.value : a.index < b.index;
}

/// Inserts `candidate` into a sorted list of ten if it is better than the last one.
template <typename Better>
void insert(std::array<Candidate, charges>& list, const Candidate& candidate, Better better) {
  if (candidate.index < 0 || (list.back().index >= 0 && !better(candidate, list.back()))) {
    return;
  }
  std::size_t index = charges - 1;
  while (index > 0 && (list[index - 1].index < 0 || better(candidate, list[index - 1]))) {
    list[index] = list[index - 1];
    --index;
  }
  list[index] = candidate;
}

/// The smallest and the largest of `count` consecutive values beginning with `first`. Most rows
/// contain none of the ten, so they need only this pass, which vectorises.
ValueRange row_range(std::uint64_t first, std::int64_t count) {
  constexpr std::uint64_t mask = Lehmer46::mask;
  // Signed, because vector instruction sets before AVX-512 compare only signed integers; the values
  // have 46 bits.
  std::array<std::uint64_t, streams> state{};
  std::array<std::int64_t, streams> least{};
  std::array<std::int64_t, streams> greatest{};
  const std::int64_t blocks = count / streams;
  std::uint64_t next = first;
  for (std::size_t l = 0; l < streams; ++l) {
    state[l] = next;
    next = next * Lehmer46::multiplier & mask;
    least[l] = std::numeric_limits<std::int64_t>::max();
    greatest[l] = -1;
  }
  const std::uint64_t step = Lehmer46::jump(streams);
  for (std::int64_t b = 0; b < blocks; ++b) {
    for (std::size_t l = 0; l < streams; ++l) {
      const auto value = static_cast<std::int64_t>(state[l]);
      least[l] = std::min(least[l], value);
      greatest[l] = std::max(greatest[l], value);
      state[l] = state[l] * step & mask;
    }
  }
  ValueRange range;
  for (std::size_t l = 0; l < streams; ++l) {
    if (blocks > 0) {
      range.least = std::min(range.least, static_cast<std::uint64_t>(least[l]));
      range.greatest = std::max(range.greatest, static_cast<std::uint64_t>(greatest[l]));
    }
    if (static_cast<std::int64_t>(l) < count - blocks * streams) {
      range.least = std::min(range.least, state[l]);
      range.greatest = std::max(range.greatest, state[l]);
    }
  }
  return range;
}

}  // namespace

std::uint64_t Lehmer46::jump(std::int64_t count) {
  std::uint64_t result = 1;
  std::uint64_t square = multiplier;
  for (auto rest = static_cast<std::uint64_t>(count); rest != 0; rest >>= 1) {
    if ((rest & 1) != 0) {
      result = result * square & mask;
    }
    square = square * square & mask;
  }
  return result;
}

std::uint64_t Lehmer46::value(std::int64_t index) {
  return seed * jump(index + 1) & mask;
}

Extremes find_extremes(std::int64_t n, const Box& box) {
  Extremes found;
  if (box.is_empty()) {
    return found;
  }
  const std::int64_t count = box.hi.x - box.lo.x;
  const std::uint64_t row_jump = Lehmer46::jump(n);
  for (std::int64_t z = box.lo.z; z < box.hi.z; ++z) {
    std::int64_t index = (z * n + box.lo.y) * n + box.lo.x;
    std::uint64_t first = Lehmer46::value(index);
    for (std::int64_t y = box.lo.y; y < box.hi.y; ++y) {
      const ValueRange range = row_range(first, count);
      const bool is_full = found.largest.back().index >= 0 && found.smallest.back().index >= 0;
      if (!is_full || range.greatest > found.largest.back().value ||
          range.least < found.smallest.back().value) {
        std::uint64_t value = first;
        for (std::int64_t x = 0; x < count; ++x) {
          insert(found.largest, {value, index + x}, is_larger);
          insert(found.smallest, {value, index + x}, is_smaller);
          value = value * Lehmer46::multiplier & Lehmer46::mask;
        }
      }
      first = first * row_jump & Lehmer46::mask;
      index += n;
    }
  }
  return found;
}

Extremes merge(const Extremes& a, const Extremes& b) {
  Extremes merged = a;
  for (const Candidate& candidate : b.largest) {
    insert(merged.largest, candidate, is_larger);
  }
  for (const Candidate& candidate : b.smallest) {
    insert(merged.smallest, candidate, is_smaller);
  }
  return merged;
}

void set_right_hand_side(const Grid& v, std::int64_t n, const Extremes& extremes) {
  const Box& box = v.box;
  if (box.is_empty()) {
    return;
  }
  for (std::int64_t z = box.lo.z; z < box.hi.z; ++z) {
    for (std::int64_t y = box.lo.y; y < box.hi.y; ++y) {
      std::fill_n(v.at(z, y, box.lo.x), box.hi.x - box.lo.x, 0.0);
    }
  }
  const auto set = [&](const std::array<Candidate, charges>& list, double charge) {
    for (const Candidate& candidate : list) {
      const std::int64_t z = candidate.index / (n * n);
      const std::int64_t y = candidate.index / n % n;
      const std::int64_t x = candidate.index % n;
      if (candidate.index >= 0 && box.lo.z <= z && z < box.hi.z && box.lo.y <= y && y < box.hi.y &&
          box.lo.x <= x && x < box.hi.x) {
        *v.at(z, y, x) = charge;
      }
    }
  };
  // The smallest first, as in NPB: if the lists overlap on a tiny grid, +1 remains.
  set(extremes.smallest, -1.0);
  set(extremes.largest, 1.0);
}

}  // namespace tessera::apps::mg
