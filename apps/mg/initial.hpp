// SPDX-License-Identifier: BSD-3-Clause
//
// The official right-hand side v of MG, for any box of the grid.
//
// NPB fills the n³ grid with random numbers, x fastest, then y, then z, and sets v to +1 at the
// ten largest, to -1 at the ten smallest and to 0 elsewhere. The generator is Lehmer's,
//
//   x(0) = 314159265,   x(i+1) = 5^13 · x(i) mod 2^46,
//
// and the point with linear index i = (z·n + y)·n + x gets x(i+1) · 2^-46. We keep the integers
// x(i+1) themselves, which have the same order. Any element is reached with one power of the
// multiplier ("jump-ahead"), so that every rank can make its box alone:
//
//   1. find_extremes() gives the ten largest and ten smallest of the rank's box;
//   2. all ranks merge theirs, in any order, with merge();
//   3. every rank sets its own points with set_right_hand_side().
//
// Ties do not occur. The generator has the period 2^44 from an odd seed, more than the 2^30 points
// of class D, so no two points are equal. If a caller makes equal values, the lower linear index
// comes first.
//
// Cost: eight independent streams for each row, about 0.3 ns for each point with AVX-512.
//
// See also: RNR-94-007, section 2.3, for the generator.
#pragma once

#include <array>
#include <cstdint>

#include "apps/mg/grid.hpp"

namespace tessera::apps::mg {

/// NPB's generator of pseudo-random 46-bit integers.
class Lehmer46 {
 public:
  static constexpr std::uint64_t multiplier = 1220703125;  // 5^13
  static constexpr std::uint64_t seed = 314159265;
  static constexpr std::uint64_t mask = (std::uint64_t{1} << 46) - 1;

  /// The multiplier that steps `count` times at once. 64-bit arithmetic suffices: 2^46 divides
  /// 2^64, so the bits that overflow would be masked off anyway.
  [[nodiscard]] static std::uint64_t jump(std::int64_t count);

  /// The value x(index + 1), of linear index `index`.
  [[nodiscard]] static std::uint64_t value(std::int64_t index);
};

/// A point that may be among the ten: its random value and linear index. An absent one has index
/// -1. Trivially copyable, so that ranks can exchange it.
struct Candidate {
  std::uint64_t value = 0;
  std::int64_t index = -1;

  bool operator==(const Candidate&) const = default;
};

inline constexpr std::size_t charges = 10;  ///< points of each sign

/// The ten largest values, largest first, and the ten smallest, smallest first, of a set.
struct Extremes {
  std::array<Candidate, charges> largest;
  std::array<Candidate, charges> smallest;
};

/// The extremes of the points of `box` within the grid of edge n.
/// Requires: `box` lies within whole_box(n); it may be empty.
[[nodiscard]] Extremes find_extremes(std::int64_t n, const Box& box);

/// The extremes of the union of two disjoint sets.
[[nodiscard]] Extremes merge(const Extremes& a, const Extremes& b);

/// Sets the box of `v` (not its ghosts) to the right-hand side for `extremes`, those of the whole
/// grid of edge n.
void set_right_hand_side(const Grid& v, std::int64_t n, const Extremes& extremes);

}  // namespace tessera::apps::mg
