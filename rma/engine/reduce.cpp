// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/reduce.hpp"

#include <algorithm>

#include "rma/arithmetic.hpp"

namespace tessera::rma::detail {
namespace {

template <class T>
T truth(bool is_true) {
  return is_true ? T{1} : T{0};
}

template <class T, class Combine>
void combine_with(T* into, const T* from, std::size_t count, Combine&& combine_two) {
  for (std::size_t i = 0; i < count; ++i) {
    into[i] = combine_two(into[i], from[i]);
  }
}

template <class T>
void combine_integers(T* into, const T* from, std::size_t count, Reduction reduction) {
  if (reduction == Reduction::bit_and) {
    combine_with(into, from, count, [](T a, T b) { return static_cast<T>(a & b); });
  } else if (reduction == Reduction::bit_or) {
    combine_with(into, from, count, [](T a, T b) { return static_cast<T>(a | b); });
  }
}

template <class T>
void combine_reals(T* into, const T* from, std::size_t count, Reduction reduction) {
  switch (reduction) {
    case Reduction::min:
      return combine_with(into, from, count, [](T a, T b) { return std::min(a, b); });
    case Reduction::max:
      return combine_with(into, from, count, [](T a, T b) { return std::max(a, b); });
    case Reduction::abs_min:
      return combine_with(into, from, count,
                          [](T a, T b) { return std::min(absolute(a), absolute(b)); });
    case Reduction::abs_max:
      return combine_with(into, from, count,
                          [](T a, T b) { return std::max(absolute(a), absolute(b)); });
    case Reduction::logical_and:
      return combine_with(into, from, count,
                          [](T a, T b) { return truth<T>(a != T{0} && b != T{0}); });
    case Reduction::logical_or:
      return combine_with(into, from, count,
                          [](T a, T b) { return truth<T>(a != T{0} || b != T{0}); });
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    combine_integers(into, from, count, reduction);
  }
}

template <class T>
void combine_typed(T* into, const T* from, std::size_t count, Reduction reduction) {
  if (reduction == Reduction::sum) {
    combine_with(into, from, count, add<T>);
  } else if (reduction == Reduction::product) {
    combine_with(into, from, count, multiply<T>);
  } else if constexpr (RealElement<T>) {
    combine_reals(into, from, count, reduction);
  }
}

bool changes_a_single_operand(Reduction reduction) {
  return reduction == Reduction::abs_min || reduction == Reduction::abs_max ||
         reduction == Reduction::logical_and || reduction == Reduction::logical_or;
}

}  // namespace

bool is_defined(ElementType type, Reduction reduction) noexcept {
  if (!is_valid(type) || static_cast<int>(reduction) >= reduction_count) {
    return false;
  }
  switch (reduction) {
    case Reduction::sum:
    case Reduction::product:
      return true;
    case Reduction::bit_and:
    case Reduction::bit_or:
      return is_integer(type);
    default:
      return !is_complex(type);
  }
}

void combine(std::byte* into, const std::byte* from, std::size_t bytes, ElementType type,
             Reduction reduction) {
  dispatch(type, [&]<class T>(Tag<T>) {
    combine_typed(reinterpret_cast<T*>(into), reinterpret_cast<const T*>(from), bytes / sizeof(T),
                  reduction);
  });
}

void finish_alone(std::byte* elements, std::size_t bytes, ElementType type, Reduction reduction) {
  if (changes_a_single_operand(reduction)) {
    // For all of these, (x, x) gives the result for x alone.
    combine(elements, elements, bytes, type, reduction);
  }
}

}  // namespace tessera::rma::detail
