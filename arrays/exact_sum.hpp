// SPDX-License-Identifier: BSD-3-Clause
//
// ExactSum: a sum of doubles without rounding, so that neither the order of the terms nor who adds
// them changes the result: what makes reductions reproducible for any number of ranks.
//
// It is a fixed-point number of 68 digits of 32 bits, wide enough for every double and for 2^63
// terms; each digit is kept in 64 bits, so that carries are due only once in 2^30 additions (the
// idea of Kulisch's long accumulator). Two sums are added digit by digit, which is what lets an
// allreduce of integers combine those of the ranks.
//
// Infinities and NaNs are counted apart, and give what IEEE addition would.
// Cost: some ten instructions a term; 568 bytes.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "rma/cxx20.hpp"

namespace tessera::arrays {

class ExactSum {
 public:
  /// Adds a term.
  void add(double term) noexcept;
  /// Adds x · y without rounding, but for products below 2^-969 in absolute value, whose last
  /// digits are lost, and those beyond the largest double, which are infinite.
  void add_product(double x, double y) noexcept {
    const double product = x * y;
    add(product);
    if (std::isfinite(product)) {
      add(std::fma(x, y, -product));
    }
  }

  /// The sum, rounded once, to nearest.
  [[nodiscard]] double value() const noexcept { return value_as<double>(); }
  /// The same as a float or a double.
  template <class Real>
  [[nodiscard]] Real value_as() const noexcept;

  /// What must be added, word by word, to combine two sums; carries are done, so that 2^30 of them
  /// can be.
  std::span<std::int64_t> words() noexcept {
    carry();
    return words_;
  }

 private:
  static constexpr std::size_t digits = 68;
  static constexpr std::size_t infinities = digits;  // places of the counts behind the digits
  static constexpr std::size_t negative_infinities = digits + 1;
  static constexpr std::size_t nans = digits + 2;
  static constexpr std::int32_t most_additions = 1 << 30;

  void carry() noexcept;
  void count_special(double term) noexcept;

  // Digit i counts multiples of 2^(32 i − 1074); but for the last, which has the sign, they are in
  // [0, 2^32) after carry().
  std::array<std::int64_t, digits + 3> words_ = {};
  std::int32_t additions_ = 0;
};

}  // namespace tessera::arrays
