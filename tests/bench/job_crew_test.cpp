// SPDX-License-Identifier: BSD-3-Clause
//
// JobCrew: a Tessera job as the method sees it.
#include "bench/support/job_crew.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "bench/support/measure.hpp"

namespace tessera::bench {
namespace {

constexpr std::int32_t ranks = 3;

TEST(JobCrew, SharesAndFindsTheMaximum) {
  const rma::Status status = rma::run_on_threads(ranks, [](rma::Job& job) {
    JobCrew crew(job);
    EXPECT_EQ(crew.size(), ranks);
    EXPECT_EQ(crew.rank(), job.rank().value);
    EXPECT_EQ(crew.share(crew.rank() + 10, 1), 11);
    EXPECT_EQ(crew.maximum(-crew.rank()), 0.0);
    crew.barrier();
    return rma::Status();
  });
  EXPECT_TRUE(status.ok()) << status.describe();
}

TEST(JobCrew, CarriesAMeasurement) {
  std::array<std::int64_t, ranks> runs = {};
  const rma::Status status = rma::run_on_threads(ranks, [&runs](rma::Job& job) {
    JobCrew crew(job);
    std::int64_t& mine = runs[static_cast<std::size_t>(crew.rank())];
    Candidate alone{.name = "alone", .run = [](std::int64_t) {}};
    Candidate together{.name = "together", .run = [&mine](std::int64_t n) { mine += n; }};
    together.cooperative = true;
    MeasureOptions options;
    options.samples = 5;
    options.min_samples = 5;
    options.warm_up_samples = 1;
    options.repetitions = 2;
    const auto measured = measure_interleaved(crew, {alone, together}, options);
    EXPECT_EQ(measured.size(), 2U);
    return rma::Status();
  });
  EXPECT_TRUE(status.ok()) << status.describe();
  // Each sample: once to prime, then the repetitions.
  EXPECT_EQ(runs[0], (1 + 5) * (1 + 2));
  EXPECT_EQ(runs[1], runs[0]);
  EXPECT_EQ(runs[2], runs[0]);
}

}  // namespace
}  // namespace tessera::bench
