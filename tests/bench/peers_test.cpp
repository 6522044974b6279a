// SPDX-License-Identifier: BSD-3-Clause
//
// Which ranks represent rank 0's own node and another one, and to which ranks a rank writes.
#include "bench/support/machine.hpp"

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

TEST(PlacesAround, HaveTheLowestRankOfEach) {
  const auto places = locations_around({{0, 0}, {0, 1}, {0, 0}, {1, 0}, {0, 1}}, 2);
  ASSERT_EQ(places.size(), 3U);
  EXPECT_EQ(places[0].name, "same numa");
  EXPECT_EQ(places[0].rank, 2);
  EXPECT_EQ(places[1].rank, 1);
  EXPECT_EQ(places[2].rank, 3);
}

TEST(PlacesAround, SayWhyOneIsMissing) {
  const auto alone = locations_around({{0, 0}}, 1);
  EXPECT_EQ(alone[0].missing, "no other rank is on rank 0's NUMA node");
  EXPECT_EQ(alone[1].missing, "rank 0's node has one NUMA node");
  EXPECT_EQ(alone[2].missing, "no rank is on another node");
  EXPECT_FALSE(alone[0].rank || alone[1].rank || alone[2].rank);
  const auto unbound = locations_around({{0, -1}, {0, -1}, {0, 1}}, 2);
  EXPECT_EQ(unbound[0].name, "same node");
  EXPECT_EQ(unbound[0].rank, 1);
  EXPECT_FALSE(unbound[1].rank);
  EXPECT_EQ(unbound[1].missing, "rank 0 is not bound to one NUMA node");
}

TEST(RanksBehind, GoRoundAndAreInOrder) {
  using Ranks = std::vector<std::int32_t>;
  EXPECT_EQ(ranks_after(0, 2, 4), (Ranks{1, 2}));
  EXPECT_EQ(ranks_after(2, 2, 4), (Ranks{0, 3}));
  EXPECT_EQ(ranks_after(3, 3, 4), (Ranks{0, 1, 2}));
  EXPECT_EQ(ranks_after(1, 0, 4), Ranks{});
}

}  // namespace
}  // namespace tessera::bench
