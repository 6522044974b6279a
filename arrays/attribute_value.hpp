// SPDX-License-Identifier: BSD-3-Clause
//
// AttributeValue: the value of an attribute of a file, a group or a data set: a scalar of any type,
// a text, or a list of numbers.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "rma/base/cxx20.hpp"

namespace tessera::arrays {

using AttributeValue =
    std::variant<std::int64_t, double, std::string, bool, std::int8_t, std::int16_t, std::int32_t,
                 std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, float,
                 std::complex<float>, std::complex<double>, std::vector<std::int64_t>,
                 std::vector<double>>;

/// "a whole number", "a string": what a value is, for messages.
std::string_view kind_of(const AttributeValue& value) noexcept;

/// The value as a T: itself, or a whole number that T can hold, or a float as a double. Unset for
/// values of another kind, and for numbers that T can't hold.
template <class T>
[[nodiscard]] std::optional<T> value_as(const AttributeValue& value) {
  return std::visit(
      [](const auto& held) -> std::optional<T> {
        using Held = std::remove_cvref_t<decltype(held)>;
        constexpr bool are_whole = std::is_integral_v<Held> && std::is_integral_v<T> &&
                                   !std::is_same_v<Held, bool> && !std::is_same_v<T, bool>;
        if constexpr (std::is_same_v<Held, T>) {
          return held;
        } else if constexpr (are_whole) {
          return std::in_range<T>(held) ? std::optional<T>(static_cast<T>(held)) : std::nullopt;
        } else if constexpr (std::is_same_v<Held, float> && std::is_same_v<T, double>) {
          return static_cast<double>(held);
        } else if constexpr (std::is_same_v<Held, std::complex<float>> &&
                             std::is_same_v<T, std::complex<double>>) {
          return std::complex<double>(held);
        } else {
          return std::nullopt;
        }
      },
      value);
}

}  // namespace tessera::arrays
