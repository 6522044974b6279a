// SPDX-License-Identifier: BSD-3-Clause
//
// Which ranks stand for rank 0's own node and for another one.
#include "bench/support/near_and_far.hpp"

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

}  // namespace
}  // namespace tessera::bench
