// SPDX-License-Identifier: BSD-3-Clause
//
// Selections: the elements of an array that a transfer moves.
//
//     Box({0, 1}, {10, 8})                        a rectangle of indices
//     Section(Box({0, 1}, {10, 8}), {2, 3})       the rows 0 2 4 6 8 and the columns 1 4 7
//     periodic(Box({-1, 0}, {3, 4}))              a box that may extend past the array's ends
//     field(Box({0}, {100}), &Particle::mass)     one member of each element of a box
//
// Each has extents(): those of the local memory that has its elements. A section is equivalent to
// Fortran's a(0:9:2, 1:7:3) and NumPy's a[0:10:2, 1:8:3].
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <type_traits>

#include "arrays/box.hpp"
#include "arrays/index.hpp"
#include "arrays/patch.hpp"
#include "arrays/periodic.hpp"

namespace tessera::arrays {

/// Every step-th element of a box along each dimension.
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

/// A box that may extend past the ends of the dimensions in `periodic`, by any distance; the array
/// repeats there. If a put writes an element twice, the element has either value afterwards.
struct PeriodicBox {
  Box box;
  PeriodicDims periodic;

  [[nodiscard]] constexpr Extents extents() const noexcept { return box.extents(); }
};

[[nodiscard]] inline PeriodicBox periodic(const Box& box,
                                          PeriodicDims dims = PeriodicDims().set()) noexcept {
  return {box, dims};
}

/// One field of each element of a box. Local memory has the fields contiguously, or with strides
/// that count fields.
struct FieldBox {
  Box box;
  ElementField field;

  [[nodiscard]] constexpr Extents extents() const noexcept { return box.extents(); }
};

/// A FieldBox of the type Member in elements of the type Structure.
template <class Structure, class Member>
struct MemberBox : FieldBox {};

template <class Structure, class Member>
[[nodiscard]] MemberBox<Structure, Member> field(const Box& box,
                                                 Member Structure::*member) noexcept {
  // Never read: only the address of the member is needed.
  // NOLINTNEXTLINE(modernize-avoid-c-arrays)
  alignas(Structure) const std::byte element[sizeof(Structure)] = {};
  const auto* const at = &(reinterpret_cast<const Structure*>(element)->*member);
  const auto offset = reinterpret_cast<const std::byte*>(at) - element;
  return {{box, {static_cast<std::size_t>(offset), sizeof(Member)}}};
}

/// The type of the elements that a selection of an Array<T> has.
template <class S, class T>
struct SelectedElement {
  using type = T;
};
template <class Structure, class Member>
struct SelectedElement<MemberBox<Structure, Member>, Structure> {
  using type = Member;
};

/// What Array<T> can transfer.
template <class S, class T>
concept SelectionOf = std::same_as<S, Box> || std::same_as<S, Section> ||
    std::same_as<S, PeriodicBox> ||
    (std::derived_from<S, FieldBox> && !std::same_as<typename SelectedElement<S, T>::type, T>);

/// "[0,10):2 x [1,8):3".
std::string to_string(const Section& section);
inline std::string to_string(const PeriodicBox& box) {
  return to_string(box.box);
}
inline std::string to_string(const FieldBox& box) {
  return to_string(box.box);
}

/// Errors: as check_inside() of the box; invalid_argument for steps that are not positive, or for a
/// number of steps other than the number of dimensions.
rma::Status check_inside(const Section& section, const Extents& extents);
/// Errors: as PeriodicPieces::split(); invalid_argument if the number of elements doesn't fit 63
/// bits.
rma::Status check_inside(const PeriodicBox& box, const Extents& extents);

}  // namespace tessera::arrays
