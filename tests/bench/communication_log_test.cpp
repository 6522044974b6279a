// SPDX-License-Identifier: BSD-3-Clause
//
// The communication log returns the products of the samples, and no others.
#include "bench/apps/communication_log.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "bench/support/measure.hpp"
#include "tests/bench/rank_threads.hpp"

namespace tessera::bench {
namespace {

/// Products that spend 1, 2, 3, … µs.
class Products {
 public:
  CommunicationLog log{[this] { return seconds_; }};
  void run(std::int64_t repetitions) {
    log.call(repetitions, [this] { seconds_ += ++count_ * 1e-6; });
  }

 private:
  double seconds_ = 0;
  double count_ = 0;
};

void expect_near(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], 1e-6) << i;
  }
}

TEST(CommunicationLog, HasTheProductsOfTheSamplesOnly) {
  Products products;
  for (const int repetitions : {1, 4, 1, 2, 1, 2}) {  // a check, warm-up, two primed samples
    products.run(repetitions);
  }
  expect_near(products.log.of_last(2, true), {7, 8, 10, 11});
}

TEST(CommunicationLog, HasEachCallWhereNothingStandsBeforeSamples) {
  Products products;
  for (const int repetitions : {1, 2, 2, 2}) {
    products.run(repetitions);
  }
  expect_near(products.log.of_last(2, false), {4, 5, 6, 7});
  expect_near(products.log.of_last(0, false), {});
}

TEST(CommunicationLog, AgreesWithTheMeasurementAboutWhatASampleIs) {
  for (const bool prime : {true, false}) {
    Products products;
    std::vector<std::int64_t> timed;
    Candidate candidate;
    candidate.name = "products";
    candidate.run = [&](std::int64_t repetitions) { products.run(repetitions); };
    candidate.verify = [&] {
      products.run(1);
      return "";
    };
    MeasureOptions options;
    options.samples = 3;
    options.warm_up_samples = 2;
    options.repetitions = 5;
    options.prime = prime;
    SingleRankGroup group;
    const auto measured = measure_interleaved(group, {candidate}, options);
    // 1 of the check, and two samples of the warm-up.
    const double first = 1 + 2 * (5 + (prime ? 1 : 0)) + (prime ? 1 : 0) + 1;
    const auto found = products.log.of_last(std::ssize(measured[0].samples_ns), options.prime);
    ASSERT_EQ(found.size(), 15U);
    EXPECT_NEAR(found.front(), first, 1e-6);
    EXPECT_NEAR(found.back(), first + 14 + (prime ? 2 : 0), 1e-6);
  }
}

}  // namespace
}  // namespace tessera::bench
