// SPDX-License-Identifier: BSD-3-Clause
//
// ExactSum: a sum of doubles without rounding. Neither the order of the terms nor the ranks that
// add them change the result, so reductions are reproducible for any number of ranks.
//
// It is a fixed-point number of 68 digits of 32 bits, wide enough for every double and for 2^63
// terms. Each digit is kept in 64 bits, so that carries are needed only once in 2^30 additions (the
// idea of Kulisch's long accumulator). Two sums are added digit by digit, so an allreduce of
// integers can combine those of the ranks.
//
// Infinities and NaNs are counted separately, and give the result of IEEE addition. Cost: about ten
// instructions for each term; 568 bytes.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "rma/base/cxx20.hpp"

namespace tessera::arrays {

/// A sum of doubles without rounding; see above.
class ExactSum {
 public:
  /// Adds a term.
  void add(double term) noexcept;
  /// Adds x · y without rounding, with two exceptions: a product below 2^-969 in absolute value
  /// loses its last digits, and one beyond the largest double is infinite.
  void add_product(double x, double y) noexcept {
    const double product = x * y;
    add(product);
    if (std::isfinite(product)) {
      add(std::fma(x, y, -product));
    }
  }

  /// The sum, rounded once, to nearest.
  [[nodiscard]] double value() const noexcept { return value_as<double>(); }
  /// The sum as a float or a double, rounded once.
  template <class Real>
  [[nodiscard]] Real value_as() const noexcept;

  /// The words that must be added, one by one, to combine two sums. Carries are propagated first,
  /// so that up to 2^30 sums can be combined.
  std::span<std::int64_t> words() noexcept {
    carry();
    return words_;
  }

 private:
  static constexpr std::size_t digits = 68;
  static constexpr std::size_t infinities = digits;  // index of the counts, after the digits
  static constexpr std::size_t negative_infinities = digits + 1;
  static constexpr std::size_t nans = digits + 2;
  static constexpr std::int32_t max_additions = 1 << 30;

  void carry() noexcept;
  void count_special(double term) noexcept;

  // Digit i counts multiples of 2^(32 i − 1074). After carry() all digits are in [0, 2^32), except
  // the last one, which has the sign.
  std::array<std::int64_t, digits + 3> words_ = {};
  std::int32_t additions_ = 0;
};

}  // namespace tessera::arrays
