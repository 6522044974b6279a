// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <type_traits>

namespace tessera::rma {

/// The smallest multiple of `unit` that is not less than `value`.
template <std::unsigned_integral T>
[[nodiscard]] constexpr T round_up(T value, std::type_identity_t<T> unit) noexcept {
  return (value + unit - 1) / unit * unit;
}

}  // namespace tessera::rma
