// SPDX-License-Identifier: BSD-3-Clause
//
// Section: every step-th element of a box along each dimension.
//
//     Section(Box({0, 1}, {10, 8}), {2, 3})       the rows 0 2 4 6 8 and the columns 1 4 7
//
// Equivalent to Fortran's section a(0:9:2, 1:7:3) and NumPy's slice a[0:10:2, 1:8:3].
#pragma once

#include "arrays/box.hpp"
#include "arrays/index.hpp"

namespace tessera::arrays {

class Section {
 public:
  /// Requires: as many steps as dimensions, each ≥ 1; check_inside() reports violations.
  constexpr Section(const Box& box, const Extents& steps) noexcept : box_(box), steps_(steps) {}

  [[nodiscard]] constexpr const Box& box() const noexcept { return box_; }
  [[nodiscard]] constexpr const Extents& steps() const noexcept { return steps_; }
  [[nodiscard]] constexpr int ndims() const noexcept { return box_.ndims(); }
  /// The number of elements along each dimension.
  [[nodiscard]] constexpr Extents extents() const noexcept {
    Extents counts = box_.extents();
    for (int dim = 0; dim < std::min(counts.ndims(), max_dims); ++dim) {
      counts[dim] =
          counts[dim] == 0 ? 0 : (counts[dim] - 1) / std::max<std::int64_t>(steps_[dim], 1) + 1;
    }
    return counts;
  }
  [[nodiscard]] constexpr std::int64_t volume() const noexcept {
    return tessera::arrays::volume(extents());
  }

  friend constexpr bool operator==(const Section&, const Section&) noexcept = default;

 private:
  Box box_;
  Extents steps_;
};

/// "[0,10):2 x [1,8):3".
std::string to_string(const Section& section);

/// Errors: as check_inside() of the box; invalid_argument for steps that are not positive, or for a
/// number of steps other than the number of dimensions.
rma::Status check_inside(const Section& section, const Extents& extents);

}  // namespace tessera::arrays
