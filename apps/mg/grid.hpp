// SPDX-License-Identifier: BSD-3-Clause
//
// Index3, Box and Grid: the geometry of one multigrid level in this folder.
//
// A level of edge n is the periodic lattice of n × n × n points with global indices 0 … n-1 in each
// of z, y, x; x is contiguous in memory. A Box is a half-open range of global indices. A Grid is a
// view of doubles for such a box and the ghost layers around it: cells with indices outside the
// box. Indices below 0 or above n-1 are periodic images.
//
//        ghost  ←  box.lo …… box.hi-1  →  ghost        at(z, y, x) takes global indices
//
// Coarse point c of the level below is fine point 2c + 1 (in NPB's Fortran, with one ghost layer
// and base 1, it is 2j - 1, which is the same). So the rank with the fine box [lo, hi) owns the
// coarse points [lo/2, hi/2), rounded down, as coarsened() returns. Boxes may begin at an odd index
// and may be empty on coarse levels.
//
// Ownership: a Grid owns nothing. The code that allocated the ghost layers knows their width; each
// kernel states the width that it needs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tessera::apps::mg {

/// A point of the lattice, or three extents.
struct Index3 {
  std::int64_t z = 0;
  std::int64_t y = 0;
  std::int64_t x = 0;

  bool operator==(const Index3&) const = default;
};

/// The points with lo <= index < hi in every dimension.
struct Box {
  Index3 lo;
  Index3 hi;

  bool operator==(const Box&) const = default;

  [[nodiscard]] constexpr Index3 extents() const { return {hi.z - lo.z, hi.y - lo.y, hi.x - lo.x}; }
  [[nodiscard]] constexpr bool is_empty() const {
    return hi.z <= lo.z || hi.y <= lo.y || hi.x <= lo.x;
  }
  [[nodiscard]] constexpr std::int64_t points() const {
    return is_empty() ? 0 : (hi.z - lo.z) * (hi.y - lo.y) * (hi.x - lo.x);
  }
};

/// The box of all points of a level of edge n.
constexpr Box whole_box(std::int64_t n) {
  return {{0, 0, 0}, {n, n, n}};
}

/// `box` with `width` more layers on every side.
constexpr Box grown(const Box& box, std::int64_t width) {
  return {{box.lo.z - width, box.lo.y - width, box.lo.x - width},
          {box.hi.z + width, box.hi.y + width, box.hi.x + width}};
}

/// The coarse points that lie within the fine `box`. The shift rounds down, also below zero.
constexpr Box coarsened(const Box& box) {
  return {{box.lo.z >> 1, box.lo.y >> 1, box.lo.x >> 1},
          {box.hi.z >> 1, box.hi.y >> 1, box.hi.x >> 1}};
}

/// `box` without `inner`, which lies in it: slabs below and above in z, then in y and in x; some
/// may be empty.
constexpr std::array<Box, 6> without(const Box& box, const Box& inner) {
  if (inner.is_empty()) {
    return {box};
  }
  const Box& b = box;
  const Box& i = inner;
  return {{{b.lo, {i.lo.z, b.hi.y, b.hi.x}},
           {{i.hi.z, b.lo.y, b.lo.x}, b.hi},
           {{i.lo.z, b.lo.y, b.lo.x}, {i.hi.z, i.lo.y, b.hi.x}},
           {{i.lo.z, i.hi.y, b.lo.x}, {i.hi.z, b.hi.y, b.hi.x}},
           {{i.lo.z, i.lo.y, b.lo.x}, {i.hi.z, i.hi.y, i.lo.x}},
           {{i.lo.z, i.lo.y, i.hi.x}, {i.hi.z, i.hi.y, b.hi.x}}}};
}

/// A view of one box of doubles with ghost layers around it.
struct Grid {
  double* data = nullptr;         ///< the point box.lo
  Box box;                        ///< the points owned, without ghosts
  std::int64_t plane_stride = 0;  ///< elements from (z, y, x) to (z + 1, y, x)
  std::int64_t row_stride = 0;    ///< elements from (z, y, x) to (z, y + 1, x)

  /// The address of a point, by global indices; ghosts are outside `box`.
  [[nodiscard]] double* at(std::int64_t z, std::int64_t y, std::int64_t x) const {
    return data + ((z - box.lo.z) * plane_stride + (y - box.lo.y) * row_stride + (x - box.lo.x));
  }
};

/// A symmetric 27-point stencil: the weights of the point itself, its 6 neighbours across faces,
/// 12 across edges and 8 across corners.
struct Stencil {
  double centre = 0.0;
  double face = 0.0;
  double edge = 0.0;
  double corner = 0.0;
};

}  // namespace tessera::apps::mg
