// SPDX-License-Identifier: BSD-3-Clause
//
// The verbs baseline does what a case says, between two threads, if there is an RDMA device, as in
// the virtual machine of tests/rdma-vm.
#include "bench/baselines/verbs_baseline.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "bench/support/measure.hpp"
#include "tests/bench/few_samples.hpp"
#include "tests/bench/rank_threads.hpp"

namespace tessera::bench {
namespace {

/// Runs `body` with a baseline on two threads; skips the test if there is no device.
template <class Body>
void with_baseline(bool cold, const Body& body) {
  BaselineOptions options;
  options.capacity_bytes = 1 << 20;
  options.cold = cold;
  options.cold_bytes = 4 << 20;
  std::string missing;
  run_threads(2, [&](RankGroup& group) {
    std::string reason;
    const auto baseline = make_verbs_baseline(group, options, reason);
    if (baseline) {
      EXPECT_EQ(baseline->name(), "bare loop");
      body(group, *baseline);
    } else if (group.rank() == 0) {
      missing = reason;
    }
  });
  if (!missing.empty()) {
    EXPECT_TRUE(missing.starts_with("verbs: ")) << missing;
    GTEST_SKIP() << missing;
  }
}

/// Measures it, including the data check.
void expect_right_data(RankGroup& group, const std::optional<Candidate>& candidate) {
  ASSERT_TRUE(candidate);
  EXPECT_EQ(static_cast<bool>(candidate->verify), group.rank() == 0);
  const auto measured = measure_interleaved(group, {*candidate}, few_samples());
  EXPECT_TRUE(measured[0].valid) << (measured[0].notes.empty() ? "" : measured[0].notes[0]);
}

TEST(VerbsBaseline, NeedsTwoRanks) {
  SingleRankGroup alone;
  std::string missing;
  EXPECT_FALSE(make_verbs_baseline(alone, {}, missing));
  EXPECT_TRUE(missing.starts_with("verbs: ")) << missing;
}

TEST(VerbsBaseline, MovesTheRightBytes) {
  with_baseline(false, [](RankGroup& group, VerbsBaseline& baseline) {
    for (const Operation operation : {Operation::put, Operation::get}) {
      for (const std::size_t bytes : {1U, 8U, 220U, 221U, 4096U, 1U << 20}) {
        expect_right_data(group, baseline.candidate(Case::contiguous(operation, bytes)));
      }
      EXPECT_FALSE(baseline.candidate(Case::contiguous(operation, (1 << 20) + 1)));
      EXPECT_FALSE(baseline.candidate(Case::strided(operation, 16, 4)));
    }
    EXPECT_FALSE(baseline.candidate(Case::contiguous(Operation::accumulate, 8)));
  });
}

TEST(VerbsBaseline, PutsWithAReadBehind) {
  with_baseline(false, [](RankGroup& group, VerbsBaseline& baseline) {
    for (const std::size_t bytes : {8U, 4096U}) {
      expect_right_data(group, baseline.put_and_read(bytes));
    }
  });
}

TEST(VerbsBaseline, KeepsSeveralMessagesOutstanding) {
  with_baseline(false, [](RankGroup& group, VerbsBaseline& baseline) {
    for (const Operation operation : {Operation::put, Operation::get}) {
      expect_right_data(group, baseline.stream(operation, 8, 100));
      expect_right_data(group, baseline.stream(operation, 1 << 18, 4));
      EXPECT_FALSE(baseline.stream(operation, 1 << 18, 5));
      EXPECT_FALSE(baseline.stream(operation, 8, 1000));
    }
  });
}

TEST(VerbsBaseline, RotatesThroughColdBuffers) {
  with_baseline(true, [](RankGroup& group, VerbsBaseline& baseline) {
    expect_right_data(group, baseline.candidate(Case::contiguous(Operation::put, 1 << 20)));
    expect_right_data(group, baseline.candidate(Case::contiguous(Operation::get, 1 << 20)));
  });
}

TEST(VerbsBaseline, StartsAndWaits) {
  with_baseline(false, [](RankGroup& group, VerbsBaseline& baseline) {
    for (const Operation operation : {Operation::put, Operation::get}) {
      const auto started = baseline.started(operation, 1 << 16);
      EXPECT_TRUE(started);
      if (started && group.rank() == 0) {
        EXPECT_EQ(started->verify(), "");
      }
      EXPECT_FALSE(baseline.started(operation, (1 << 20) + 1));
    }
  });
}

}  // namespace
}  // namespace tessera::bench
