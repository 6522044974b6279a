// SPDX-License-Identifier: BSD-3-Clause
//
// TeamMembers: lists of ranks that are or aren't teams, and members' numbers and orders.
#include "rma/engine/team/team_members.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "rma/engine/team/collective_call.hpp"
#include "tests/rma/node_rig.hpp"

namespace tessera::rma::detail {
namespace {

// Ranks 0 to 7; node 0 has the even ones.
const NodeMap& two_nodes() {
  static const NodeMap map(std::vector<std::uint64_t>{1, 2, 1, 2, 1, 2, 1, 2}, 0);
  return map;
}

Node node_of_rank_2() {
  return Node(rig_memory(4), two_nodes().ranks_of(NodeId{0}), 1, true, WaitPolicy());
}

std::vector<WorldRank> ranks_of(const std::vector<std::int32_t>& numbers) {
  std::vector<WorldRank> ranks;
  for (const std::int32_t number : numbers) {
    ranks.push_back(WorldRank{number});
  }
  return ranks;
}

std::string refusal(const std::vector<std::int32_t>& numbers) {
  const Status status = TeamMembers::check(ranks_of(numbers), WorldRank{2}, 8);
  return status.ok() ? "" : status.message();
}

TEST(TeamMembers, MustBeDifferentRanksOfTheJobWithThisOne) {
  EXPECT_EQ(refusal({2}), "");
  EXPECT_EQ(refusal({7, 2, 0}), "");
  EXPECT_NE(refusal({}), "");
  EXPECT_NE(refusal({2, 8}).find("rank 8"), std::string::npos);
  EXPECT_NE(refusal({2, -1}).find("rank -1"), std::string::npos);
  EXPECT_NE(refusal({2, 3, 2}).find("twice"), std::string::npos);
  EXPECT_NE(refusal({1, 3}).find("rank 2"), std::string::npos);
}

TEST(TeamMembers, HaveNumbersInTheOrderOfTheList) {
  const Node node = node_of_rank_2();
  for (const std::vector<std::int32_t>& list :
       {std::vector<std::int32_t>{1, 2, 3, 4}, {6, 3, 2, 0}, {2, 4, 6}, {2}}) {
    const TeamMembers members(ranks_of(list), WorldRank{2}, node, two_nodes());
    ASSERT_EQ(members.size(), static_cast<std::int32_t>(list.size()));
    EXPECT_EQ(members.world_rank(members.self()), WorldRank{2});
    for (std::int32_t rank = -1; rank <= 8; ++rank) {
      const auto found = std::find(list.begin(), list.end(), rank);
      const auto number = static_cast<std::int32_t>(found - list.begin());
      EXPECT_EQ(members.team_rank(WorldRank{rank}).value, found == list.end() ? -1 : number);
    }
  }
}

TEST(TeamMembers, HaveAnOrderOnTheirNodeAndALeader) {
  const Node node = node_of_rank_2();
  const TeamMembers members(ranks_of({6, 3, 2, 7}), WorldRank{2}, node, two_nodes());
  EXPECT_EQ(members.count_on_node(), 2);
  EXPECT_EQ(members.order_of(WorldRank{6}), 0);
  EXPECT_EQ(members.order_of(WorldRank{2}), 1);
  EXPECT_EQ(members.own_order(), 1);
  for (const std::int32_t elsewhere : {-1, 0, 3, 4, 7, 8}) {
    EXPECT_EQ(members.order_of(WorldRank{elsewhere}), -1) << elsewhere;
  }
  EXPECT_TRUE(members.is_leader()) << "the lowest member, not the first of the list";
  ASSERT_TRUE(members.has_other_nodes());
  EXPECT_EQ(members.nodes().count(), 2);

  const TeamMembers here(ranks_of({6, 2}), WorldRank{2}, node, two_nodes());
  EXPECT_FALSE(here.has_other_nodes());
}

TEST(TeamMembers, HashTheSetAndTheList) {
  const Node node = node_of_rank_2();
  const TeamMembers one(ranks_of({2, 4, 6}), WorldRank{2}, node, two_nodes());
  const TeamMembers other(ranks_of({6, 4, 2}), WorldRank{2}, node, two_nodes());
  const TeamMembers fewer(ranks_of({2, 6}), WorldRank{2}, node, two_nodes());
  EXPECT_EQ(one.set_hash(), other.set_hash());
  EXPECT_NE(one.list_hash(), other.list_hash());
  EXPECT_NE(one.set_hash(), fewer.set_hash());
}

TEST(CollectiveCall, HasAFingerprintOfAllItsFieldsAndTheLabel) {
  const CollectiveCall call{.kind = CollectiveCall::Kind::broadcast, .bytes = 8};
  CollectiveCall other_root = call;
  other_root.root = TeamRank{1};
  CollectiveCall other_size = call;
  other_size.bytes = 16;
  EXPECT_EQ(call.fingerprint(5), call.fingerprint(5));
  EXPECT_NE(call.fingerprint(5), call.fingerprint(6));
  EXPECT_NE(call.fingerprint(5), other_root.fingerprint(5));
  EXPECT_NE(call.fingerprint(5), other_size.fingerprint(5));
  EXPECT_EQ(CollectiveCall::describe(other_root.packed(), 8), "broadcast of 8 bytes from member 1");
}

}  // namespace
}  // namespace tessera::rma::detail
