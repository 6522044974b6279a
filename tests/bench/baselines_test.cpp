// SPDX-License-Identifier: BSD-3-Clause
//
// The baselines that need no MPI do what a case says; the suites test the others under mpirun.
#include <gtest/gtest.h>

#include "bench/baselines/baseline.hpp"
#include "bench/baselines/memory_baseline.hpp"
#include "bench/support/measure.hpp"
#include "tests/bench/rank_threads.hpp"

namespace tessera::bench {
namespace {

BaselineOptions small() {
  BaselineOptions options;
  options.capacity_bytes = 1 << 20;
  return options;
}

std::vector<Case> transfers() {
  std::vector<Case> cases;
  for (const Operation operation : {Operation::put, Operation::get, Operation::accumulate}) {
    for (const std::size_t bytes : {8U, 64U, 4096U, 65536U}) {
      cases.push_back(Case::contiguous(operation, bytes));
    }
    cases.push_back(Case::strided(operation, 16, 64));
    cases.push_back(Case::strided(operation, 1024, 7));
    cases.push_back(Case::window(operation, 1024, 7));
    cases.push_back(Case::vector(operation, 8, 1000));
    cases.back().scale = operation == Operation::accumulate ? -1.5 : 1.0;
  }
  return cases;
}

TEST(MemoryBaseline, MovesTheRightBytes) {
  MemoryBaseline baseline(small());
  for (const Case& c : transfers()) {
    const auto candidate = baseline.candidate(c);
    ASSERT_TRUE(candidate) << c.name();
    EXPECT_EQ(candidate->bytes, c.bytes());
    ASSERT_TRUE(candidate->verify) << c.name();
    EXPECT_EQ(candidate->verify(), "") << c.name() << ' ' << c.shape();
  }
}

TEST(MemoryBaseline, WorksBetweenTheBuffersOfOthers) {
  Mapping local(1 << 16, Sharing::own);
  Mapping remote(1 << 16, Sharing::shared);
  MemoryBaseline baseline(local.bytes(), remote.bytes(), false);
  EXPECT_EQ(baseline.candidate(Case::contiguous(Operation::put, 1000))->verify(), "");
  EXPECT_FALSE(baseline.candidate(Case::contiguous(Operation::put, (1 << 16) + 1)));
}

TEST(MemoryBaseline, HasTheAtomicOperations) {
  MemoryBaseline baseline(small());
  EXPECT_EQ(baseline.candidate(Case::contiguous(Operation::compare_swap, 8))->verify(), "");
  EXPECT_EQ(baseline.candidate(Case::contiguous(Operation::fetch_add, 8))->verify(), "");
  baseline.candidate(Case::contiguous(Operation::lock_unlock, 8))->run(10);
}

TEST(Mapping, BeginsWhereItIsTold) {
  for (const Sharing sharing : {Sharing::own, Sharing::shared}) {
    const Mapping mapping(1000, sharing, 8);
    EXPECT_EQ(mapping.bytes().size(), 1000U);
    EXPECT_EQ(line_offset(mapping.bytes().data()), 8U);
  }
}

TEST(Baselines, SayWhatIsMissingWithoutMpi) {
  SingleRankGroup group;
  std::string missing;
  EXPECT_EQ(make_mpi_baseline(group, small(), missing), nullptr);
  EXPECT_EQ(missing.find("mpi: "), 0U);
  EXPECT_EQ(make_armci_baseline(group, small(), missing), nullptr);
  EXPECT_EQ(missing.find("armci-mpi: "), 0U);
}

TEST(Triad, RunsOnAllRanksAndCountsAllTheirBytes) {
  run_threads(2, [](RankGroup& group) {
    MeasureOptions options;
    options.samples = 11;
    const auto results = measure_interleaved(group, {triad_candidate(group, 1000)}, options);
    EXPECT_TRUE(results[0].valid);
    EXPECT_EQ(results[0].bytes, 48'000U);
    if (group.rank() == 0) {
      EXPECT_GT(results[0].bytes_per_s(), 0);
    }
  });
}

}  // namespace
}  // namespace tessera::bench
