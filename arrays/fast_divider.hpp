// SPDX-License-Identifier: BSD-3-Clause
//
// FastDivider: fast division by a number that is fixed long
// before, with a multiplication instead of the machine's slow division.
//
// With f = ⌊(2⁶⁴ − 1) / d⌋ the high half of n·f is ⌊n / d⌋ or one less for every n below 2⁶³,
// because the error, n·(2⁶⁴ / d − f) / 2⁶⁴, is below one. One comparison corrects it.
#pragma once

#include <cstdint>

#include "rma/base/cxx20.hpp"

namespace tessera::arrays {

class FastDivider {
 public:
  struct Parts {
    std::int64_t quotient = 0;
    std::int64_t remainder = 0;
  };

  /// Divides by one.
  constexpr FastDivider() noexcept = default;
  /// Requires: divisor ≥ 1.
  explicit constexpr FastDivider(std::int64_t divisor) noexcept
      : divisor_(static_cast<std::uint64_t>(divisor)), factor_(~std::uint64_t{0} / divisor_) {}

  [[nodiscard]] constexpr std::int64_t divisor() const noexcept {
    return static_cast<std::int64_t>(divisor_);
  }
  /// Requires: n ≥ 0.
  [[nodiscard]] constexpr Parts divide(std::int64_t n) const noexcept {
    const auto number = static_cast<std::uint64_t>(n);
    auto quotient = static_cast<std::uint64_t>((Wide{number} * factor_) >> 64);
    std::uint64_t remainder = number - quotient * divisor_;
    if (remainder >= divisor_) {
      ++quotient;
      remainder -= divisor_;
    }
    return {static_cast<std::int64_t>(quotient), static_cast<std::int64_t>(remainder)};
  }

  friend constexpr bool operator==(const FastDivider&, const FastDivider&) noexcept = default;

 private:
  __extension__ using Wide = unsigned __int128;

  std::uint64_t divisor_ = 1;
  std::uint64_t factor_ = ~std::uint64_t{0};
};

}  // namespace tessera::arrays
