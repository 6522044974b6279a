// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/exact_sum.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace tessera::arrays {

namespace {

constexpr int digit_bits = 32;
constexpr std::uint64_t digit_mask = 0xffff'ffffU;
constexpr int fraction_bits = 52;
constexpr int min_exponent = -1074;  // the exponent of the smallest double

using Bits = __uint128_t;

int width(Bits bits) noexcept {
  const auto high = static_cast<std::uint64_t>(bits >> 64U);
  const auto low = static_cast<std::uint64_t>(bits);
  return static_cast<int>(high != 0 ? 64 + std::bit_width(high) : std::bit_width(low));
}

// bits · 2^exponent to nearest. The number has more than 53 bits only where ldexp doesn't round.
double rounded(Bits bits, int exponent, double /*type*/) noexcept {
  return std::ldexp(static_cast<double>(bits), exponent);
}
// Converts through a double that is rounded to odd instead of to nearest, since two roundings to
// nearest could differ from one: its last bit is set if any omitted bit is nonzero.
float rounded(Bits bits, int exponent, float /*type*/) noexcept {
  constexpr int kept = 53;
  const int left_out = std::max(width(bits) - kept, 0);
  Bits odd = bits >> left_out;
  if (odd << left_out != bits) {
    odd |= 1U;
  }
  return static_cast<float>(std::ldexp(static_cast<double>(odd), exponent + left_out));
}

}  // namespace

void ExactSum::add(double term) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(term);
  const auto exponent = static_cast<int>(bits >> fraction_bits & 0x7ffU);
  if (exponent == 0x7ff) {
    count_special(term);
    return;
  }
  std::uint64_t significand = bits & ((std::uint64_t{1} << fraction_bits) - 1);
  if (exponent != 0) {
    significand |= std::uint64_t{1} << fraction_bits;
  }
  const int position = exponent == 0 ? 0 : exponent - 1;  // exponent of its last bit, above 2^-1074
  const auto digit = static_cast<std::size_t>(position / digit_bits);
  const int shift = position % digit_bits;
  const std::uint64_t low = significand << shift;
  const std::uint64_t high = shift == 0 ? 0 : significand >> (64 - shift);
  const std::int64_t sign = (bits >> 63U) != 0 ? -1 : 1;
  words_[digit] += sign * static_cast<std::int64_t>(low & digit_mask);
  words_[digit + 1] += sign * static_cast<std::int64_t>(low >> digit_bits);
  words_[digit + 2] += sign * static_cast<std::int64_t>(high);
  if (++additions_ == max_additions) {
    carry();
  }
}

void ExactSum::count_special(double term) noexcept {
  const std::size_t kind = std::isnan(term) ? nans : term > 0 ? infinities : negative_infinities;
  ++words_[kind];
}

void ExactSum::carry() noexcept {
  for (std::size_t i = 0; i + 1 < digits; ++i) {
    const std::int64_t carried = words_[i] >> digit_bits;  // rounds towards minus infinity
    words_[i] -= carried * (std::int64_t{1} << digit_bits);
    words_[i + 1] += carried;
  }
  additions_ = 0;
}

template <class Real>
Real ExactSum::value_as() const noexcept {
  using Limits = std::numeric_limits<Real>;
  if (words_[nans] > 0 || (words_[infinities] > 0 && words_[negative_infinities] > 0)) {
    return Limits::quiet_NaN();
  }
  if (words_[infinities] > 0 || words_[negative_infinities] > 0) {
    return words_[infinities] > 0 ? Limits::infinity() : -Limits::infinity();
  }
  ExactSum sum = *this;
  sum.carry();
  const bool is_negative = sum.words_[digits - 1] < 0;
  if (is_negative) {
    for (std::size_t i = 0; i < digits; ++i) {
      sum.words_[i] = -sum.words_[i];
    }
    sum.carry();
  }
  std::size_t top = digits - 1;
  while (top > 0 && sum.words_[top] == 0) {
    --top;
  }
  // The four highest digits have at least 97 bits of the number. If a nonzero bit follows, their
  // last bit is set, so that the conversion rounds as if all bits were present. A sum that is so
  // small that ldexp would round again has at most 53 bits.
  Bits bits = 0;
  std::size_t below = top + 1;
  for (int i = 0; i < 4 && below > 0; ++i) {
    bits = bits << digit_bits | static_cast<std::uint64_t>(sum.words_[--below]);
  }
  const int exponent = min_exponent + static_cast<int>(below) * digit_bits;
  if (std::any_of(sum.words_.begin(), sum.words_.begin() + static_cast<std::ptrdiff_t>(below),
                  [](std::int64_t digit) { return digit != 0; })) {
    bits |= 1U;
  }
  const Real magnitude = rounded(bits, exponent, Real{});
  return is_negative ? -magnitude : magnitude;
}

template double ExactSum::value_as<double>() const noexcept;
template float ExactSum::value_as<float>() const noexcept;

}  // namespace tessera::arrays
