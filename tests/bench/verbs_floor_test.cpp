// SPDX-License-Identifier: BSD-3-Clause
//
// The verbs baseline does what a case says, between two threads, if there is an RDMA device, as in
// the virtual machine of tests/rdma-vm.
#include "bench/floors/verbs_floor.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "bench/support/measure.hpp"
#include "tests/bench/few_samples.hpp"

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
  run_threads(2, [&](RankGroup& crew) {
    std::string reason;
    const auto floor = make_verbs_baseline(crew, options, reason);
    if (floor) {
      EXPECT_EQ(floor->name(), "bare loop");
      body(crew, *floor);
    } else if (crew.rank() == 0) {
      missing = reason;
    }
  });
  if (!missing.empty()) {
    EXPECT_TRUE(missing.starts_with("verbs: ")) << missing;
    GTEST_SKIP() << missing;
  }
}

/// Measures it, including the data check.
void expect_right(RankGroup& crew, const std::optional<Candidate>& candidate) {
  ASSERT_TRUE(candidate);
  EXPECT_EQ(static_cast<bool>(candidate->verify), crew.rank() == 0);
  const auto measured = measure_interleaved(crew, {*candidate}, few_samples());
  EXPECT_TRUE(measured[0].valid) << (measured[0].notes.empty() ? "" : measured[0].notes[0]);
}

TEST(VerbsBaseline, NeedsTwoRanks) {
  SingleRankGroup alone;
  std::string missing;
  EXPECT_FALSE(make_verbs_baseline(alone, {}, missing));
  EXPECT_TRUE(missing.starts_with("verbs: ")) << missing;
}

TEST(VerbsBaseline, MovesTheRightBytes) {
  with_baseline(false, [](RankGroup& crew, VerbsBaseline& floor) {
    for (const Operation operation : {Operation::put, Operation::get}) {
      for (const std::size_t bytes : {1U, 8U, 220U, 221U, 4096U, 1U << 20}) {
        expect_right(crew, floor.candidate(Case::contiguous(operation, bytes)));
      }
      EXPECT_FALSE(floor.candidate(Case::contiguous(operation, (1 << 20) + 1)));
      EXPECT_FALSE(floor.candidate(Case::strided(operation, 16, 4)));
    }
    EXPECT_FALSE(floor.candidate(Case::contiguous(Operation::accumulate, 8)));
  });
}

TEST(VerbsBaseline, PutsWithAReadBehind) {
  with_baseline(false, [](RankGroup& crew, VerbsBaseline& floor) {
    for (const std::size_t bytes : {8U, 4096U}) {
      expect_right(crew, floor.put_and_read(bytes));
    }
  });
}

TEST(VerbsBaseline, KeepsSeveralMessagesOutstanding) {
  with_baseline(false, [](RankGroup& crew, VerbsBaseline& floor) {
    for (const Operation operation : {Operation::put, Operation::get}) {
      expect_right(crew, floor.stream(operation, 8, 100));
      expect_right(crew, floor.stream(operation, 1 << 18, 4));
      EXPECT_FALSE(floor.stream(operation, 1 << 18, 5));
      EXPECT_FALSE(floor.stream(operation, 8, 1000));
    }
  });
}

TEST(VerbsBaseline, RotatesThroughColdBuffers) {
  with_baseline(true, [](RankGroup& crew, VerbsBaseline& floor) {
    expect_right(crew, floor.candidate(Case::contiguous(Operation::put, 1 << 20)));
    expect_right(crew, floor.candidate(Case::contiguous(Operation::get, 1 << 20)));
  });
}

TEST(VerbsBaseline, StartsAndWaits) {
  with_baseline(false, [](RankGroup& crew, VerbsBaseline& floor) {
    for (const Operation operation : {Operation::put, Operation::get}) {
      const auto started = floor.started(operation, 1 << 16);
      EXPECT_TRUE(started);
      if (started && crew.rank() == 0) {
        EXPECT_EQ(started->verify(), "");
      }
      EXPECT_FALSE(floor.started(operation, (1 << 20) + 1));
    }
  });
}

}  // namespace
}  // namespace tessera::bench
