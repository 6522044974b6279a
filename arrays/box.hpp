// SPDX-License-Identifier: BSD-3-Clause
//
// Box: a half-open rectangular part [lo, hi) of an index space.
//
//     Box({0, 64}, {64, 256})    the rows 0 … 63 and the columns 64 … 255: "[0,64) x [64,256)"
//
// A box may extend outside its array (see periodic.hpp); check_inside() finds that out. A box with
// hi ≤ lo in some dimension is empty.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "arrays/index.hpp"
#include "rma/base/status.hpp"

namespace tessera::arrays {

class Box {
 public:
  /// A box with no dimensions.
  constexpr Box() noexcept = default;
  /// The box [lo, hi). Requires: both have the same ndims(); otherwise check_inside() returns an
  /// error that names the mistake.
  constexpr Box(const Index& lo, const Index& hi) noexcept : lo_(lo), hi_(hi) {}
  /// The empty box at the origin.
  static constexpr Box none(int ndims) noexcept { return Box(ndims); }
  /// All of an array: [0, extents).
  static constexpr Box whole(const Extents& extents) noexcept {
    Box box = none(extents.ndims());
    box.hi_ = Index::from(extents);
    return box;
  }
  /// The box of one element. Requires: every index is below the largest 64-bit number.
  static constexpr Box at(const Index& index) noexcept {
    Box box(index, index);
    for (int dim = 0; dim < std::min(index.ndims(), max_dims); ++dim) {
      ++box.hi_[dim];
    }
    return box;
  }

  /// Changes the bounds of one dimension.
  constexpr void set(int dim, std::int64_t lo, std::int64_t hi) noexcept {
    lo_[dim] = lo;
    hi_[dim] = hi;
  }

  [[nodiscard]] constexpr int ndims() const noexcept { return lo_.ndims(); }
  [[nodiscard]] constexpr const Index& lo() const noexcept { return lo_; }
  [[nodiscard]] constexpr const Index& hi() const noexcept { return hi_; }
  [[nodiscard]] constexpr std::int64_t lo(int dim) const noexcept { return lo_[dim]; }
  [[nodiscard]] constexpr std::int64_t hi(int dim) const noexcept { return hi_[dim]; }
  /// The length along one dimension; 0 if empty there; 2^63 − 1 for lengths above that.
  [[nodiscard]] constexpr std::int64_t extent(int dim) const noexcept {
    if (hi_[dim] <= lo_[dim]) {
      return 0;
    }
    const auto length = static_cast<std::uint64_t>(hi_[dim]) - static_cast<std::uint64_t>(lo_[dim]);
    return static_cast<std::int64_t>(
        std::min<std::uint64_t>(length, std::numeric_limits<std::int64_t>::max()));
  }
  [[nodiscard]] constexpr Extents extents() const noexcept {
    Extents extents = Extents::zeros(ndims());
    for (int dim = 0; dim < std::min(ndims(), max_dims); ++dim) {
      extents[dim] = extent(dim);
    }
    return extents;
  }
  [[nodiscard]] constexpr bool is_empty() const noexcept {
    for (int dim = 0; dim < ndims(); ++dim) {
      if (hi_[dim] <= lo_[dim]) {
        return true;
      }
    }
    return false;
  }
  /// is_empty(), under the name that containers use.
  [[nodiscard]] constexpr bool empty() const noexcept { return is_empty(); }
  /// The number of elements. Requires: it fits 63 bits, as it does for every box inside an array.
  [[nodiscard]] constexpr std::int64_t volume() const noexcept {
    std::uint64_t product = 1;  // unsigned, as lengths before a zero may overflow
    for (int dim = 0; dim < ndims(); ++dim) {
      product *= static_cast<std::uint64_t>(extent(dim));
    }
    return static_cast<std::int64_t>(product);
  }
  /// As volume(); returns false if the number of elements does not fit 63 bits.
  [[nodiscard]] constexpr bool checked_volume(std::int64_t& elements) const noexcept {
    for (int dim = 0; dim < ndims(); ++dim) {
      std::int64_t length = 0;
      if (__builtin_sub_overflow(hi_[dim], lo_[dim], &length)) {
        return false;
      }
    }
    return checked_product(extents(), elements);
  }

  [[nodiscard]] constexpr bool contains(const Index& index) const noexcept {
    for (int dim = 0; dim < ndims(); ++dim) {
      if (index[dim] < lo_[dim] || index[dim] >= hi_[dim]) {
        return false;
      }
    }
    return true;
  }
  /// True if all of `other` lies inside; also for every empty box.
  [[nodiscard]] constexpr bool contains(const Box& other) const noexcept {
    if (other.is_empty()) {
      return true;
    }
    for (int dim = 0; dim < ndims(); ++dim) {
      if (other.lo_[dim] < lo_[dim] || other.hi_[dim] > hi_[dim]) {
        return false;
      }
    }
    return true;
  }

  /// The box moved by `by` elements along each dimension. Requires: the bounds stay within 64 bits.
  [[nodiscard]] constexpr Box shifted(const Index& by) const noexcept {
    Box box = *this;
    for (int dim = 0; dim < ndims(); ++dim) {
      box.lo_[dim] += by[dim];
      box.hi_[dim] += by[dim];
    }
    return box;
  }
  /// The box with widths[dim] more elements at both ends of each dimension.
  [[nodiscard]] constexpr Box grown(const Extents& widths) const noexcept {
    Box box = *this;
    for (int dim = 0; dim < ndims(); ++dim) {
      box.lo_[dim] -= widths[dim];
      box.hi_[dim] += widths[dim];
    }
    return box;
  }

  /// True if the bounds are equal: two empty boxes at different positions differ.
  friend constexpr bool operator==(const Box&, const Box&) noexcept = default;

 private:
  explicit constexpr Box(int ndims) noexcept : lo_(Index::zeros(ndims)), hi_(Index::zeros(ndims)) {}

  Index lo_;
  Index hi_;
};

/// The common part; an empty box (hi == lo in some dimension) if they have none. Requires: both
/// have the same ndims().
[[nodiscard]] constexpr Box intersect(const Box& a, const Box& b) noexcept {
  Box common = Box::none(a.ndims());
  for (int dim = 0; dim < a.ndims(); ++dim) {
    const std::int64_t lo = std::max(a.lo(dim), b.lo(dim));
    common.set(dim, lo, std::max(lo, std::min(a.hi(dim), b.hi(dim))));
  }
  return common;
}

/// The offset from the lower corner of `from` to that of `to`. Requires: both have the same
/// ndims().
[[nodiscard]] constexpr Index shift_between(const Box& from, const Box& to) noexcept {
  Index shift = to.lo();
  for (int dim = 0; dim < from.ndims(); ++dim) {
    shift[dim] -= from.lo(dim);
  }
  return shift;
}

/// "[0,64) x [64,256)".
std::string to_string(const Box& box);

namespace detail {
rma::Status explain_outside(const Box& box, const Extents& extents);
rma::Status explain_outside(const Index& index, const Extents& extents);
}  // namespace detail

/// True when `box`, empty or not, has 0 ≤ lo ≤ hi ≤ extent in every dimension.
[[nodiscard]] constexpr bool is_inside(const Box& box, const Extents& extents) noexcept {
  if (box.ndims() != extents.ndims() || box.hi().ndims() != extents.ndims()) {
    return false;
  }
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    if (box.lo(dim) < 0 || box.lo(dim) > box.hi(dim) || box.hi(dim) > extents[dim]) {
      return false;
    }
  }
  return true;
}

/// True when `index` is an element of the array.
[[nodiscard]] constexpr bool is_inside(const Index& index, const Extents& extents) noexcept {
  if (index.ndims() != extents.ndims()) {
    return false;
  }
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    if (index[dim] < 0 || index[dim] >= extents[dim]) {
      return false;
    }
  }
  return true;
}

/// Errors: out_of_range (names the dimension and by how much the box exceeds it), invalid_argument
/// (another number of dimensions, or hi < lo). Cost: a few comparisons if the box is inside.
inline rma::Status check_inside(const Box& box, const Extents& extents) {
  return is_inside(box, extents) ? rma::Status() : detail::explain_outside(box, extents);
}
inline rma::Status check_inside(const Index& index, const Extents& extents) {
  return is_inside(index, extents) ? rma::Status() : detail::explain_outside(index, extents);
}

/// For boxes that may lie outside the array. Errors: invalid_argument if the number of elements
/// doesn't fit 63 bits.
rma::Status check_volume(const Box& box);

}  // namespace tessera::arrays
