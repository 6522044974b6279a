// SPDX-License-Identifier: BSD-3-Clause
//
// Part<T>: a box of an array, as an operand of the operations on whole arrays. An array stands for
// all of itself:
//
//     fill(part(a, Box({0, 0}, {10, 10})), 1.0);
//     add(2.0, a, 1.0, part(b, some_box), c);
//
// A Part is a value that refers to its array, which must outlive it. It checks nothing; the
// operation that takes it does.
#pragma once

#include <type_traits>

#include "arrays/array.hpp"
#include "arrays/box.hpp"

namespace tessera::arrays {

template <class T>
class Part {
 public:
  using value_type = T;
  explicit Part(const Array<T>& array) noexcept : Part(array, array.box()) {}
  Part(const Array<T>& array, const Box& box) noexcept : array_(&array), box_(box) {}

  [[nodiscard]] const Array<T>& array() const noexcept { return *array_; }
  [[nodiscard]] const Box& box() const noexcept { return box_; }

 private:
  const Array<T>* array_;
  Box box_;
};

template <class T>
Part<T> part(const Array<T>& array) noexcept {
  return Part<T>(array);
}
template <class T>
Part<T> part(const Array<T>& array, const Box& box) noexcept {
  return Part<T>(array, box);
}
template <class T>
Part<T> part(const Part<T>& already) noexcept {
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

/// The same of an operand of arithmetic. The compiler says which types there are for that.
template <Operand A>
using NumberOf = typename detail::Computable<ElementOf<A>>::type;

}  // namespace tessera::arrays
