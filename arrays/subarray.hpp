// SPDX-License-Identifier: BSD-3-Clause
//
// Subarray<T>: a box of an array, as an operand of operations on whole arrays. An array alone means
// all of its elements:
//
//     fill(part(a, Box({0, 0}, {10, 10})), 1.0);
//     add(2.0, a, 1.0, part(b, some_box), c);
//
// A Subarray is a value that refers to its array, which must outlive it. It checks nothing itself;
// the operation that takes it checks the box.
#pragma once

#include <type_traits>

#include "arrays/array.hpp"
#include "arrays/box.hpp"

namespace tessera::arrays {

/// A box of an array as an operand; see above.
template <class T>
class Subarray {
 public:
  using value_type = T;
  /// The whole array.
  explicit Subarray(const Array<T>& array) noexcept : Subarray(array, array.box()) {}
  /// A box of the array.
  Subarray(const Array<T>& array, const Box& box) noexcept : array_(&array), box_(box) {}

  [[nodiscard]] const Array<T>& array() const noexcept { return *array_; }
  [[nodiscard]] const Box& box() const noexcept { return box_; }

 private:
  const Array<T>* array_;
  Box box_;
};

template <class T>
Subarray<T> part(const Array<T>& array) noexcept {
  return Subarray<T>(array);
}
template <class T>
Subarray<T> part(const Array<T>& array, const Box& box) noexcept {
  return Subarray<T>(array, box);
}
template <class T>
Subarray<T> part(const Subarray<T>& already) noexcept {
  return already;
}

/// An array or a part of one.
template <class A>
concept Operand = requires(const A& operand) {
  part(operand);
};

/// The element type of an operand.
template <Operand A>
using ElementOf = typename std::remove_cvref_t<A>::value_type;

/// As ElementOf, for an operand of arithmetic; a compile-time error lists the types with
/// arithmetic.
template <Operand A>
using NumberOf = typename detail::Computable<ElementOf<A>>::type;

}  // namespace tessera::arrays
