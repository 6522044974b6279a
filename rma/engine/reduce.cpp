// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/reduce.hpp"

#include <algorithm>
#include <complex>
#include <type_traits>

namespace tessera::rma::detail {
namespace {

template <class T>
inline constexpr bool is_complex = !std::is_arithmetic_v<T>;

// Integers wrap, as in C and Fortran codes that hash with them; signed overflow would be undefined.
template <class T>
T wrapping_add(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  } else {
    return a + b;
  }
}

template <class T>
T wrapping_multiply(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
  } else {
    return a * b;
  }
}

template <class T, class Combine>
void combine_with(T* into, const T* from, std::size_t count, Combine&& combine_two) {
  for (std::size_t i = 0; i < count; ++i) {
    into[i] = combine_two(into[i], from[i]);
  }
}

template <class T>
void combine_typed(T* into, const T* from, std::size_t count, Reduction reduction) {
  if (reduction == Reduction::sum) {
    combine_with(into, from, count, wrapping_add<T>);
  } else if (reduction == Reduction::product) {
    combine_with(into, from, count, wrapping_multiply<T>);
  } else if constexpr (!is_complex<T>) {
    if (reduction == Reduction::min) {
      combine_with(into, from, count, [](T a, T b) { return std::min(a, b); });
    } else {
      combine_with(into, from, count, [](T a, T b) { return std::max(a, b); });
    }
  }
}

}  // namespace

bool is_defined(ElementType type, Reduction reduction) noexcept {
  if (!is_valid(type) || reduction > Reduction::max) {
    return false;
  }
  const bool ordered = reduction == Reduction::min || reduction == Reduction::max;
  return !ordered || (type != ElementType::c64 && type != ElementType::c128);
}

void combine(std::byte* into, const std::byte* from, std::size_t bytes, ElementType type,
             Reduction reduction) {
  dispatch(type, [&]<class T>(Tag<T>) {
    combine_typed(reinterpret_cast<T*>(into), reinterpret_cast<const T*>(from), bytes / sizeof(T),
                  reduction);
  });
}

}  // namespace tessera::rma::detail
