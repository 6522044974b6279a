// SPDX-License-Identifier: BSD-3-Clause
//
// Which ranks stand for rank 0's own node and for another one, and which ones a rank changes.
#include "bench/support/peers.hpp"

#include <gtest/gtest.h>

namespace tessera::bench {
namespace {

TEST(NearAndFar, AreTheLowestRanksOfTheirKind) {
  const auto found = near_and_far({0, 0, 1, 1});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->near, 1);
  EXPECT_EQ(found->far, 2);
}

TEST(NearAndFar, AreFoundWhereRanksAreDealtRoundRobin) {
  const auto found = near_and_far({0, 1, 2, 0, 1});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->near, 3);
  EXPECT_EQ(found->far, 1);
}

TEST(NearAndFar, AreNoneWhereOneIsMissing) {
  EXPECT_FALSE(near_and_far({0}));
  EXPECT_FALSE(near_and_far({0, 0, 0}));
  EXPECT_FALSE(near_and_far({0, 1}));
  EXPECT_FALSE(near_and_far({0, 1, 1, 2}));
}

TEST(RanksBehind, GoRoundAndAreInOrder) {
  using Ranks = std::vector<std::int32_t>;
  EXPECT_EQ(ranks_behind(0, 2, 4), (Ranks{1, 2}));
  EXPECT_EQ(ranks_behind(2, 2, 4), (Ranks{0, 3}));
  EXPECT_EQ(ranks_behind(3, 3, 4), (Ranks{0, 1, 2}));
  EXPECT_EQ(ranks_behind(1, 0, 4), Ranks{});
}

}  // namespace
}  // namespace tessera::bench
