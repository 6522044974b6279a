// SPDX-License-Identifier: BSD-3-Clause
//
// Statistics compared with values calculated by hand, or with NumPy where the test says so.
#include "bench/support/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

namespace tessera::bench {
namespace {

TEST(Quantile, InterpolatesBetweenNeighbours) {
  const std::array samples = {10.0, 20.0, 30.0, 40.0};
  EXPECT_DOUBLE_EQ(quantile(samples, 0.0), 10.0);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.25), 17.5);  // position 0.75, as numpy.percentile
  EXPECT_DOUBLE_EQ(quantile(samples, 0.5), 25.0);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.95), 38.5);
  EXPECT_DOUBLE_EQ(quantile(samples, 1.0), 40.0);
}

TEST(Quantile, OfOneSampleIsThatSample) {
  const std::array samples = {7.0};
  EXPECT_DOUBLE_EQ(quantile(samples, 0.99), 7.0);
}

TEST(MedianRanks, FollowTheFormula) {
  // n = 100: (100 -+ 19.6) / 2 = 40.2 and 59.8; baseline 40, ceil(1 + 59.8) = 61.
  EXPECT_EQ(median_ranks95(100), (RankInterval{40, 61}));
  // n = 25: (25 -+ 9.8) / 2 = 7.6 and 17.4; baseline 7, ceil(18.4) = 19.
  EXPECT_EQ(median_ranks95(25), (RankInterval{7, 19}));
  // n = 1000: half width 61.98 / 2 = 30.99; 469.01 and 530.99 + 1.
  EXPECT_EQ(median_ranks95(1000), (RankInterval{469, 532}));
}

TEST(MedianRanks, StayWithinFewSamples) {
  for (std::int64_t n = 1; n <= 5; ++n) {
    EXPECT_EQ(median_ranks95(n), (RankInterval{1, n})) << n;
  }
}

TEST(MedianRanks, CoverTheMedianAtLeast95TimesIn100) {
  constexpr int n = 31;
  constexpr int trials = 4000;
  const RankInterval ranks = median_ranks95(n);
  std::mt19937_64 random(5);
  int covered = 0;
  for (int trial = 0; trial < trials; ++trial) {
    int below = 0;  // how many of n samples lie below the true median: binomial(n, 1/2)
    for (int i = 0; i < n; ++i) {
      below += static_cast<int>(random() & 1U);
    }
    covered += below >= ranks.lo && below < ranks.hi ? 1 : 0;
  }
  EXPECT_GE(covered, trials * 95 / 100);
}

TEST(Summarise, GivesOrderStatisticsOfUnorderedSamples) {
  std::vector<double> samples(101);
  std::iota(samples.begin(), samples.end(), 0.0);  // 0 … 100
  std::shuffle(samples.begin(), samples.end(), std::mt19937_64(3));
  const Stats stats = summarise(samples);
  EXPECT_EQ(stats.samples_n, 101);
  EXPECT_DOUBLE_EQ(stats.mean, 50.0);
  EXPECT_DOUBLE_EQ(stats.min, 0.0);
  EXPECT_DOUBLE_EQ(stats.p25, 25.0);
  EXPECT_DOUBLE_EQ(stats.median, 50.0);
  EXPECT_DOUBLE_EQ(stats.p75, 75.0);
  EXPECT_DOUBLE_EQ(stats.p95, 95.0);
  EXPECT_DOUBLE_EQ(stats.p99, 99.0);
  EXPECT_DOUBLE_EQ(stats.max, 100.0);
  // Ranks floor((101 - 19.70) / 2) = 40 and ceil(1 + 60.35) = 62; sample of rank r is r - 1.
  EXPECT_EQ(stats.ci95_median, (Interval{39.0, 61.0}));
}

TEST(Summarise, OfNothingHasNoSamples) {
  EXPECT_EQ(summarise({}).samples_n, 0);
}

TEST(Summarise, ScalesEveryTime) {
  const std::array samples = {1000.0, 3000.0, 2000.0};
  const Stats stats = summarise(samples).scaled(1e-3);
  EXPECT_EQ(stats.samples_n, 3);
  EXPECT_DOUBLE_EQ(stats.min, 1.0);
  EXPECT_DOUBLE_EQ(stats.median, 2.0);
  EXPECT_DOUBLE_EQ(stats.ci95_median.hi, 3.0);
}

TEST(RatioOfMedians, DividesTheMedians) {
  const std::array subject = {9.0, 2.0, 4.0};
  const std::array reference = {1.0, 2.0, 8.0};
  EXPECT_DOUBLE_EQ(ratio_of_medians(subject, reference).value, 2.0);
}

TEST(RatioOfMedians, OfEvenlyManySamplesUsesTheMeanOfTheMiddleTwo) {
  const std::array subject = {1.0, 100.0, 2.0, 4.0};
  const std::array reference = {1.0, 1.0, 1.0, 1.0};
  EXPECT_DOUBLE_EQ(ratio_of_medians(subject, reference).value, 3.0);
}

TEST(RatioOfMedians, IsReproducible) {
  const std::vector<double> subject = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5};
  const std::vector<double> reference = {2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4};
  const Ratio first = ratio_of_medians(subject, reference);
  const Ratio second = ratio_of_medians(subject, reference);
  EXPECT_EQ(first.ci95, second.ci95);
  EXPECT_LE(first.ci95.lo, first.value);
  EXPECT_GE(first.ci95.hi, first.value);
}

TEST(RatioOfMedians, DrawsRoundsSoThatCommonDisturbanceCancels) {
  std::vector<double> subject;
  std::vector<double> reference;
  for (int round = 0; round < 100; ++round) {
    const double load = 1 + round % 10;  // the same for both in a round
    reference.push_back(load);
    subject.push_back(2 * load);
  }
  const Ratio ratio = ratio_of_medians(subject, reference);
  EXPECT_DOUBLE_EQ(ratio.ci95.lo, 2.0);
  EXPECT_DOUBLE_EQ(ratio.ci95.hi, 2.0);
  EXPECT_TRUE(ratio.is_a_difference());
}

TEST(RatioOfMedians, ClaimsNothingAboutEqualCandidates) {
  std::mt19937_64 random(11);
  std::vector<double> subject;
  std::vector<double> reference;
  for (int round = 0; round < 200; ++round) {
    subject.push_back(100 + static_cast<double>(random() % 20));
    reference.push_back(100 + static_cast<double>(random() % 20));
  }
  EXPECT_FALSE(ratio_of_medians(subject, reference).is_a_difference());
}

/// The ratio for random noise of 10 % to both sides and this number of rounds.
Ratio ratio_of_noise(std::size_t rounds, const BootstrapOptions& options = {}) {
  std::mt19937_64 random(7);
  std::vector<double> subject;
  std::vector<double> reference;
  for (std::size_t round = 0; round < rounds; ++round) {
    subject.push_back(90 + 0.02 * static_cast<double>(random() % 1000));
    reference.push_back(90 + 0.02 * static_cast<double>(random() % 1000));
  }
  return ratio_of_medians(subject, reference, options);
}

TEST(RatioOfMedians, DrawsABoundedNumberOfRounds) {
  constexpr std::int64_t rounds = 1'000'000;
  std::vector<double> samples(rounds, 1);
  std::int64_t looked_at = 0;
  const auto count = [&looked_at](std::span<const double> medians) {
    ++looked_at;
    return medians[0];
  };
  const std::clock_t start = std::clock();
  (void)number_of_medians({samples, samples}, count);
  const std::clock_t taken = std::clock() - start;
  EXPECT_EQ(looked_at, 1 + BootstrapOptions{}.resamples);
  // All rounds of all resamples would be two thousand million samples, which takes many seconds.
  EXPECT_LT(taken, 3 * CLOCKS_PER_SEC);
}

TEST(RatioOfMedians, OfManyRoundsHasTheIntervalThatAllOfThemWouldGive) {
  constexpr std::size_t rounds = 8000;
  const Ratio some = ratio_of_noise(rounds);
  const Ratio all = ratio_of_noise(rounds, {.rounds = rounds});
  EXPECT_DOUBLE_EQ(some.value, all.value);
  const auto width = [](const Ratio& ratio) { return ratio.ci95.hi - ratio.ci95.lo; };
  EXPECT_NEAR(width(some) / width(all), 1, 0.2);
  EXPECT_NEAR(width(ratio_of_noise(1000)) / width(ratio_of_noise(100'000)), 10, 3)
      << "a hundred times as many rounds, a tenth of the width";
}

TEST(RatioOfMedians, ToNothingIsInfiniteAndNoNumberIsLost) {
  const std::vector<double> subject(11, 1);
  const std::vector<double> nothing(11, 0);
  const Ratio ratio = ratio_of_medians(subject, nothing);
  EXPECT_TRUE(std::isinf(ratio.ci95.lo));
  EXPECT_TRUE(std::isinf(ratio.ci95.hi));
}

TEST(NumberOfMedians, IsThatOfTheRatioWhereItIsARatio) {
  const std::vector<double> subject = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5};
  const std::vector<double> reference = {2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4};
  const Ratio number =
      number_of_medians({subject, reference}, [](auto medians) { return medians[0] / medians[1]; });
  const Ratio ratio = ratio_of_medians(subject, reference);
  EXPECT_DOUBLE_EQ(number.value, ratio.value);
  EXPECT_EQ(number.ci95, ratio.ci95);
}

TEST(NumberOfMedians, TakesAnyNumberOfSets) {
  const std::array one = {1.0, 2.0, 9.0};
  const std::array two = {5.0, 4.0, 6.0};
  const std::array three = {7.0, 7.0, 7.0};
  const Ratio sum = number_of_medians({one, two, three}, [](auto medians) {
    return medians[0] + 10 * medians[1] + 100 * medians[2];
  });
  EXPECT_DOUBLE_EQ(sum.value, 2 + 50 + 700);
  EXPECT_THROW((void)number_of_medians({}, [](auto) { return 1.0; }), std::invalid_argument);
}

TEST(RatioOfMedians, RefusesUnequalLengths) {
  const std::array one = {1.0};
  const std::array two = {1.0, 2.0};
  EXPECT_THROW((void)ratio_of_medians(one, two), std::invalid_argument);
  EXPECT_THROW((void)ratio_of_medians({}, {}), std::invalid_argument);
}

}  // namespace
}  // namespace tessera::bench
