// SPDX-License-Identifier: BSD-3-Clause
//
// Tests that must fail, each in one way, so that ctest can check how rank_main reports them
// (tests/CMakeLists.txt: rank_main.*).
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::rma::test {
namespace {

WorldRank last_rank(const Job& job) {
  return WorldRank{job.size() - 1};
}

TEST(RankMain, Passes) {
  on_ranks([](Job& job) { EXPECT_TRUE(ok(job.barrier())); });
}

TEST(RankMain, OneRankFails) {
  on_ranks([](Job& job) {
    EXPECT_NE(job.rank(), last_rank(job));
    EXPECT_TRUE(ok(job.barrier()));
  });
}

TEST(RankMain, OneRankReturnsEarly) {
  on_ranks([](Job& job) {
    ASSERT_NE(job.rank(), last_rank(job));
    ASSERT_TRUE(ok(job.barrier()));
    ASSERT_TRUE(ok(job.barrier()));
  });
}

TEST(RankMain, OneRankThrows) {
  on_ranks([](Job& job) {
    if (job.rank() == last_rank(job)) {
      throw std::runtime_error("thrown on purpose");
    }
    ASSERT_TRUE(ok(job.world().allreduce(1, Reduction::sum)));
  });
}

TEST(RankMain, OneRankHangs) {
  on_ranks([](Job& job) {
    while (job.rank() == last_rank(job)) {
      std::this_thread::sleep_for(std::chrono::seconds(1));
    }
  });
}

// Started with --team 2,0.
TEST(RankMain, MembersOnly) {
  on_team([](Job& job, Team& team) {
    EXPECT_EQ(team.size(), 2);
    EXPECT_EQ(job.rank(), WorldRank{2 - 2 * team.rank().value});
    EXPECT_TRUE(ok(team.barrier()));
  });
}

// Started with --team 0,2.
TEST(RankMain, OneMemberReturnsEarly) {
  on_team([](Job& job, Team& team) {
    ASSERT_NE(job.rank(), last_rank(job));
    ASSERT_TRUE(ok(team.barrier()));
    ASSERT_TRUE(ok(team.barrier()));
  });
}

TEST(RankMain, Skips) {
  on_ranks([](Job&) { GTEST_SKIP() << "skipped on purpose"; });
}

}  // namespace
}  // namespace tessera::rma::test
