// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/node_map.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace tessera::rma::detail {
namespace {

std::vector<std::int32_t> nodes_of(const NodeMap& map, std::size_t ranks) {
  std::vector<std::int32_t> nodes;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    nodes.push_back(map.node_of(WorldRank{static_cast<std::int32_t>(rank)}).value);
  }
  return nodes;
}

TEST(NodeMap, NumbersNodesInTheOrderOfTheirLowestRanks) {
  const std::vector<std::uint64_t> keys{70, 70, 30, 70, 30, 10};
  const NodeMap map(keys, 0);
  EXPECT_EQ(map.count(), 3);
  EXPECT_EQ(nodes_of(map, keys.size()), (std::vector<std::int32_t>{0, 0, 1, 0, 1, 2}));
  EXPECT_EQ(map.ranks_of(NodeId{0}),
            (std::vector<WorldRank>{WorldRank{0}, WorldRank{1}, WorldRank{3}}));
}

TEST(NodeMap, SplitsAMachineIntoEmulatedNodes) {
  const std::vector<std::uint64_t> keys(7, 1);
  EXPECT_EQ(nodes_of(NodeMap(keys, 3), 7), (std::vector<std::int32_t>{0, 0, 0, 1, 1, 1, 2}));
  EXPECT_EQ(NodeMap(keys, 1).count(), 7);
  EXPECT_EQ(NodeMap(keys, 7).count(), 1);
  EXPECT_EQ(NodeMap(keys, 100).count(), 1);
}

TEST(NodeMap, SplitsEachOfSeveralMachinesInRankOrder) {
  // Two machines filled round-robin, with two ranks per emulated node.
  const std::vector<std::uint64_t> keys{1, 2, 1, 2, 1, 2, 1, 2};
  EXPECT_EQ(nodes_of(NodeMap(keys, 2), 8), (std::vector<std::int32_t>{0, 1, 0, 1, 2, 3, 2, 3}));
}

TEST(NodeMap, AgreesWithAPlainTableOnRandomMachines) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::uint64_t> keys(1 + random() % 40);
    for (std::uint64_t& key : keys) {
      key = random() % 5;
    }
    const auto per_node = static_cast<std::int64_t>(random() % 4);
    std::map<std::uint64_t, std::vector<std::size_t>> seen;  // machine → its ranks so far
    std::map<std::pair<std::uint64_t, std::size_t>, std::int32_t> numbers;
    std::vector<std::int32_t> expected;
    for (std::size_t rank = 0; rank < keys.size(); ++rank) {
      auto& ranks = seen[keys[rank]];
      const std::size_t part =
          per_node == 0 ? 0 : ranks.size() / static_cast<std::size_t>(per_node);
      ranks.push_back(rank);
      const auto fresh = static_cast<std::int32_t>(numbers.size());
      expected.push_back(numbers.emplace(std::pair(keys[rank], part), fresh).first->second);
    }
    const NodeMap map(keys, per_node);
    EXPECT_EQ(nodes_of(map, keys.size()), expected);
    EXPECT_EQ(map.count(), static_cast<std::int32_t>(numbers.size()));
    std::size_t total = 0;
    for (std::int32_t node = 0; node < map.count(); ++node) {
      for (const WorldRank rank : map.ranks_of(NodeId{node})) {
        EXPECT_EQ(map.node_of(rank), NodeId{node});
        ++total;
      }
    }
    EXPECT_EQ(total, keys.size());
  }
}

}  // namespace
}  // namespace tessera::rma::detail
