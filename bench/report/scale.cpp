// SPDX-License-Identifier: BSD-3-Clause
#include "bench/report/scale.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>

namespace tessera::bench::report {
namespace {

/// Computed values may deviate by this from the end on which they lie.
constexpr double rounding = 1e-9;

bool is_inside(double value, Interval range) {
  const double slack = rounding * std::max(std::abs(range.lo), std::abs(range.hi));
  return value >= range.lo - slack && value <= range.hi + slack;
}

/// Limits of measurements; computations of axes and ticks must not overflow.
constexpr double largest = 1e100;

bool can_be_drawn(double value, bool is_linear) {
  return std::abs(value) <= largest && (is_linear || value >= 1 / largest);
}

std::vector<Tick> binary_ticks(Interval range, Unit unit) {
  constexpr int most = 8;
  const double octaves = std::log2(range.hi / range.lo);
  const int step = std::max(1, static_cast<int>(std::ceil(octaves / most)));
  std::vector<Tick> found;
  // Start at a multiple of the step, so that axes of different lengths share their ticks.
  int exponent = static_cast<int>(std::ceil(std::log2(range.lo) / step - rounding)) * step;
  for (; is_inside(std::exp2(exponent), range); exponent += step) {
    found.push_back({std::exp2(exponent), label(std::exp2(exponent), unit)});
  }
  return found;
}

/// The numbers `mantissas` times each `every`-th power of ten.
std::vector<Tick> decimal_ticks(Interval range, Unit unit, std::span<const double> mantissas,
                                int every) {
  std::vector<Tick> found;
  const int first = static_cast<int>(std::floor(std::log10(range.lo) / every)) * every;
  for (int exponent = first; std::pow(10, exponent) <= range.hi * (1 + rounding);
       exponent += every) {
    for (const double mantissa : mantissas) {
      const double value = mantissa * std::pow(10, exponent);
      if (is_inside(value, range)) {
        found.push_back({value, label(value, unit)});
      }
    }
  }
  return found;
}

std::vector<Tick> linear_ticks(Interval range, Unit unit) {
  constexpr double wanted = 6;
  const double least = unit == Unit::count ? 1 : 0;  // there are no ticks between whole numbers
  const double rough = std::max((range.hi - range.lo) / wanted, least);
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0}) {
    step = factor * power >= rough * (1 - rounding) ? factor * power : step;
  }
  std::vector<Tick> found;
  // Adding 0 turns -0 into 0.
  const double first = std::ceil(range.lo / step - rounding) + 0.0;
  // Count the ticks: adding the step to a large number may give the same double.
  for (int i = 0; i <= 2 * static_cast<int>(wanted) && is_inside((first + i) * step, range); ++i) {
    found.push_back({(first + i) * step, label((first + i) * step, unit)});
  }
  return found;
}

std::vector<Tick> logarithmic_ticks(Interval range, Unit unit) {
  constexpr std::array<double, 10> finest = {1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8};
  constexpr std::array<double, 4> fine = {1, 2, 3, 5};
  constexpr std::array<double, 3> middle = {1, 2, 5};
  constexpr std::array<double, 1> coarse = {1};
  constexpr std::size_t fewest = 3;
  constexpr std::size_t most = 8;
  for (const std::span<const double> mantissas :
       {std::span<const double>(coarse), std::span<const double>(middle),
        std::span<const double>(fine), std::span<const double>(finest)}) {
    for (int every = 1; mantissas.size() == 1 ? every <= 4 : every == 1; ++every) {
      auto found = decimal_ticks(range, unit, mantissas, every);
      if (found.size() < fewest) {
        break;
      }
      if (found.size() <= most) {
        return found;
      }
    }
  }
  return linear_ticks(range, unit);
}

}  // namespace

Scale::Scale(Spacing spacing, Interval values, Interval paper)
    : spacing_(spacing), values_(values), paper_(paper) {}

double Scale::operator()(double value) const {
  const double inside = std::clamp(value, values_.lo, values_.hi);
  const double part = spacing_ == Spacing::linear
                          ? (inside - values_.lo) / (values_.hi - values_.lo)
                          : std::log(inside / values_.lo) / std::log(values_.hi / values_.lo);
  return paper_.lo + part * (paper_.hi - paper_.lo);
}

Interval axis_range(const std::vector<double>& values, Unit unit, Spacing spacing) {
  const bool is_linear = spacing == Spacing::linear;
  std::optional<Interval> found;
  for (const double value : values) {
    if (can_be_drawn(value, is_linear)) {
      found = found ? Interval{std::min(found->lo, value), std::max(found->hi, value)}
                    : Interval{value, value};
    }
  }
  if (!found) {
    return {1, 10};
  }
  constexpr double air = 0.06;
  if (is_linear) {
    const double lo = std::min(found->lo, 0.0);
    const double hi = std::max(found->hi, 0.0);
    const double height = hi > lo ? hi - lo : 1;
    return {lo < 0 ? lo - air * height : 0, hi + air * height};
  }
  constexpr double alone = 2;
  if (found->hi < found->lo * (1 + rounding)) {
    return {found->lo / alone, found->hi * alone};
  }
  if (unit == Unit::bytes || unit == Unit::powers) {
    return *found;
  }
  const double factor = std::pow(found->hi / found->lo, air);
  return {found->lo / factor, found->hi * factor};
}

std::vector<Tick> ticks(Interval values, Unit unit, Spacing spacing) {
  if (spacing == Spacing::linear) {
    return linear_ticks(values, unit);
  }
  const bool is_binary = unit == Unit::bytes || unit == Unit::powers;
  return is_binary ? binary_ticks(values, unit) : logarithmic_ticks(values, unit);
}

}  // namespace tessera::bench::report
