// SPDX-License-Identifier: BSD-3-Clause
//
// ExactSum against sums of whole numbers that are known exactly, and at the limits of doubles.
#include "arrays/exact_sum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <random>
#include <vector>

namespace tessera::arrays {
namespace {

using Whole = __int128_t;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double smallest = std::numeric_limits<double>::denorm_min();
constexpr double largest = std::numeric_limits<double>::max();

double sum_of(std::initializer_list<double> terms) {
  ExactSum sum;
  for (const double term : terms) {
    sum.add(term);
  }
  return sum.value();
}

TEST(ExactSum, KeepsWhatAnOrdinarySumLoses) {
  EXPECT_EQ(sum_of({}), 0.0);
  EXPECT_EQ(sum_of({1e300, 1.0, -1e300}), 1.0);
  EXPECT_EQ(sum_of({1.0, smallest, -1.0}), smallest);
  EXPECT_EQ(sum_of({largest, largest, -largest}), largest);
  EXPECT_EQ(sum_of({-largest, -smallest, largest}), -smallest);
}

TEST(ExactSum, RoundsOnceToTheNearest) {
  const double half_digit = std::ldexp(1.0, -53);
  EXPECT_EQ(sum_of({1.0, half_digit}), 1.0) << "a tie goes to the even neighbour";
  EXPECT_EQ(sum_of({1.0, half_digit, smallest}), 1.0 + std::ldexp(1.0, -52));
  EXPECT_EQ(sum_of({1.0, half_digit, -smallest}), 1.0);
  EXPECT_EQ(sum_of({-1.0, -half_digit, -smallest}), -1.0 - std::ldexp(1.0, -52));
  EXPECT_EQ(sum_of({largest, largest}), infinity);
  EXPECT_EQ(sum_of({-largest, -largest}), -infinity);
}

TEST(ExactSum, RoundsOnceToTheNearestFloat) {
  const auto float_of = [](std::initializer_list<double> terms) {
    ExactSum sum;
    for (const double term : terms) {
      sum.add(term);
    }
    return sum.value_as<float>();
  };
  const double half_digit = std::ldexp(1.0, -24);
  const float next = 1.0F + std::ldexp(1.0F, -23);
  EXPECT_EQ(float_of({1.0, half_digit}), 1.0F) << "a tie goes to the even neighbour";
  EXPECT_EQ(float_of({1.0, half_digit, std::ldexp(1.0, -60)}), next);
  EXPECT_EQ(float_of({1.0, half_digit, smallest}), next);
  EXPECT_EQ(float_of({1.0, half_digit, -smallest}), 1.0F);
  EXPECT_EQ(float_of({-1.0, -half_digit, -smallest}), -next);
  const double least = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(float_of({least, least / 2, smallest}), static_cast<float>(2 * least));
  EXPECT_EQ(float_of({least, least / 2, -smallest}), static_cast<float>(least));
  EXPECT_EQ(float_of({0x1p-1, -0x1p-1}), 0.0F);
  EXPECT_EQ(float_of({1e300}), std::numeric_limits<float>::infinity());
}

TEST(ExactSum, TreatsWhatIsNoNumberAsIeeeAdditionDoes) {
  EXPECT_EQ(sum_of({1.0, infinity, -largest}), infinity);
  EXPECT_EQ(sum_of({-infinity, largest}), -infinity);
  EXPECT_TRUE(std::isnan(sum_of({infinity, -infinity})));
  EXPECT_TRUE(std::isnan(sum_of({1.0, std::nan(""), infinity})));
}

TEST(ExactSum, IsThatOfWholeNumbersInAnyOrderAndAnyParts) {
  std::mt19937_64 random(
      static_cast<std::uint64_t>(::testing::UnitTest::GetInstance()->random_seed()));
  std::vector<std::int64_t> terms(2000);
  for (int round = 0; round < 200; ++round) {
    const int bits = static_cast<int>(random() % 53);
    Whole expected = 0;
    for (std::int64_t& term : terms) {
      term = static_cast<std::int64_t>(random() >> 11U) >> bits;
      term = random() % 2 == 0 ? term : -term;
      expected += term;
    }
    const int scale = static_cast<int>(random() % 1900) - 1070;
    std::shuffle(terms.begin(), terms.end(), random);
    ExactSum one;
    ExactSum other;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      (i < random() % terms.size() ? one : other)
          .add(std::ldexp(static_cast<double>(terms[i]), std::max(scale, -1022)));
    }
    const auto words = one.words();
    const auto others = other.words();
    for (std::size_t i = 0; i < words.size(); ++i) {
      words[i] += others[i];
    }
    EXPECT_EQ(one.value(), std::ldexp(static_cast<double>(expected), std::max(scale, -1022)))
        << "round " << round;
  }
}

TEST(ExactSum, AddsProductsWithoutRounding) {
  std::mt19937_64 random(
      static_cast<std::uint64_t>(::testing::UnitTest::GetInstance()->random_seed()));
  ExactSum sum;
  Whole expected = 0;
  for (int i = 0; i < 10'000; ++i) {
    const auto a = static_cast<std::int64_t>(random() >> 12U) - (std::int64_t{1} << 51U);
    const auto b = static_cast<std::int64_t>(random() >> 12U) - (std::int64_t{1} << 51U);
    sum.add_product(static_cast<double>(a), static_cast<double>(b));
    expected += static_cast<Whole>(a) * b;
  }
  EXPECT_EQ(sum.value(), static_cast<double>(expected));
  ExactSum far;
  far.add_product(1e200, 1e200);
  EXPECT_EQ(far.value(), infinity);
}

}  // namespace
}  // namespace tessera::arrays
