// SPDX-License-Identifier: BSD-3-Clause
//
// JobRankGroup: a rank group of a Tessera job; start_job_on_same_ranks(): a second job of the same
// ranks.
#include "bench/support/job_group.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "bench/support/measure.hpp"

namespace tessera::bench {
namespace {

constexpr std::int32_t ranks = 3;

TEST(JobRankGroup, SharesAndFindsTheMaximum) {
  const rma::Status status = rma::run_on_threads(ranks, [](rma::Job& job) {
    JobRankGroup group(job);
    EXPECT_EQ(group.size(), ranks);
    EXPECT_EQ(group.rank(), job.rank().value);
    EXPECT_EQ(group.share(group.rank() + 10, 1), 11);
    EXPECT_EQ(group.maximum(-group.rank()), 0.0);
    group.barrier();
    return rma::Status();
  });
  EXPECT_TRUE(status.ok()) << status.describe();
}

TEST(JobRankGroup, CarriesAMeasurement) {
  std::array<std::int64_t, ranks> runs = {};
  const rma::Status status = rma::run_on_threads(ranks, [&runs](rma::Job& job) {
    JobRankGroup group(job);
    std::int64_t& mine = runs[static_cast<std::size_t>(group.rank())];
    Candidate alone{.name = "alone", .run = [](std::int64_t) {}};
    Candidate together{.name = "together", .run = [&mine](std::int64_t n) { mine += n; }};
    together.cooperative = true;
    MeasureOptions options;
    options.samples = 5;
    options.min_samples = 5;
    options.warm_up_samples = 1;
    options.repetitions = 2;
    const auto measured = measure_interleaved(group, {alone, together}, options);
    EXPECT_EQ(measured.size(), 2U);
    return rma::Status();
  });
  EXPECT_TRUE(status.ok()) << status.describe();
  // Each sample: once to prime, then the repetitions.
  EXPECT_EQ(runs[0], (1 + 5) * (1 + 2));
  EXPECT_EQ(runs[1], runs[0]);
  EXPECT_EQ(runs[2], runs[0]);
}

TEST(JobBeside, HasTheSameRanksAndItsOwnSettings) {
  const rma::Status status = rma::run_on_threads(ranks, [](rma::Job& job) {
    rma::Settings settings = job.settings();
    settings.mpi_vectors = "batched";
    settings.fence_window = 3;
    rma::Job beside = start_job_on_same_ranks(job, settings);
    EXPECT_EQ(beside.rank(), job.rank());
    EXPECT_EQ(beside.size(), job.size());
    EXPECT_EQ(beside.settings().mpi_vectors, "batched");
    EXPECT_EQ(beside.settings().fence_window, 3);
    EXPECT_EQ(job.settings().mpi_vectors, rma::Settings{}.mpi_vectors);
    EXPECT_EQ(JobRankGroup(beside).maximum(beside.rank().value), ranks - 1);
    // The first job continues without it.
    rma::Status stopped = beside.stop();
    EXPECT_EQ(JobRankGroup(job).maximum(-job.rank().value), 0.0);
    return stopped;
  });
  EXPECT_TRUE(status.ok()) << status.describe();
}

}  // namespace
}  // namespace tessera::bench
