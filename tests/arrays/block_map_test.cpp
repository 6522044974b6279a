// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/block_map.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "tests/arrays/printers.hpp"

namespace tessera::arrays {
namespace {

using rma::TeamRank;

// All block coordinates in the block map's linear order.
std::vector<Index> all_blocks(const BlockMap& block_map) {
  std::vector<Index> blocks(static_cast<std::size_t>(volume(block_map.blocks())));
  const Strides strides = dense_strides(block_map.blocks(), block_map.order());
  for (std::size_t place = 0; place < blocks.size(); ++place) {
    blocks[place] = Index::zeros(block_map.ndims());
    for (int dim = 0; dim < block_map.ndims(); ++dim) {
      blocks[place][dim] =
          static_cast<std::int64_t>(place) / strides[dim] % block_map.blocks()[dim];
    }
  }
  return blocks;
}

std::vector<int> owners(const rma::Result<BlockMap>& block_map) {
  EXPECT_TRUE(block_map.ok()) << block_map.status().describe();
  std::vector<int> ranks;
  for (const Index& block : all_blocks(*block_map)) {
    ranks.push_back(block_map->owner(block).value);
  }
  return ranks;
}

// Each block has one owner, with the number that the block map says, and no other.
void expect_consistent(const rma::Result<BlockMap>& made) {
  ASSERT_TRUE(made.ok()) << made.status().describe();
  const BlockMap& block_map = *made;
  SCOPED_TRACE(to_string(block_map));
  std::int64_t total = 0;
  std::int64_t most = 0;
  for (std::int32_t rank = 0; rank < block_map.nranks(); ++rank) {
    const std::int64_t count = block_map.count({rank});
    for (std::int64_t number = 0; number < count; ++number) {
      const Index block = block_map.block({rank}, number);
      EXPECT_EQ(block_map.owner(block).value, rank);
      EXPECT_EQ(block_map.number(block), number);
    }
    total += count;
    most = std::max(most, count);
  }
  EXPECT_EQ(total, volume(block_map.blocks()));
  EXPECT_EQ(block_map.max_blocks(), most);
  std::int64_t place = 0;
  for (const Index& block : all_blocks(block_map)) {
    EXPECT_EQ(block_map.linear(block), place++);
    const TeamRank owner = block_map.owner(block);
    EXPECT_EQ(block_map.block(owner, block_map.number(block)), block);
  }
}

constexpr MemoryOrder orders[] = {MemoryOrder::row_major, MemoryOrder::column_major};

TEST(BlockMap, GridGivesOneBlockInLinearOrder) {
  EXPECT_EQ(owners(BlockMap::grid({2, 3}, 6)), (std::vector<int>{0, 1, 2, 3, 4, 5}));
  const auto columns = BlockMap::grid({2, 3}, 6, {.order = MemoryOrder::column_major});
  EXPECT_EQ(columns->owner({1, 0}).value, 1);
  EXPECT_EQ(columns->owner({0, 1}).value, 2);
  EXPECT_TRUE(columns->is_one_block_per_rank());
}

TEST(BlockMap, GridKeepsTheRanksOfANodeTogether) {
  // Nodes of 4 ranks as 2 x 2 tiles of a 4 x 4 grid.
  const auto block_map = BlockMap::grid({4, 4}, 16, {.node_grid = {2, 2}});
  EXPECT_EQ(owners(block_map), (std::vector<int>{0, 1, 4, 5, 2, 3, 6, 7,  //
                                                 8, 9, 12, 13, 10, 11, 14, 15}));
}

TEST(BlockMap, NodeGridThatChangesNothingIsNone) {
  EXPECT_EQ(*BlockMap::grid({4, 4}, 16, {.node_grid = {1, 4}}), *BlockMap::grid({4, 4}, 16));
  EXPECT_EQ(*BlockMap::grid({4, 4}, 16, {.node_grid = {2, 4}}), *BlockMap::grid({4, 4}, 16));
  EXPECT_EQ(*BlockMap::grid({4, 4}, 16, {.node_grid = {1, 2}}), *BlockMap::grid({4, 4}, 16));
  EXPECT_NE(*BlockMap::grid({4, 4}, 16, {.node_grid = {4, 1}}), *BlockMap::grid({4, 4}, 16));
}

TEST(BlockMap, CyclicGridRepeats) {
  EXPECT_EQ(owners(BlockMap::cyclic_grid({3, 4}, {2, 2}, 4)),
            (std::vector<int>{0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1}));
}

TEST(BlockMap, RoundRobinFollowsTheLinearOrder) {
  EXPECT_EQ(owners(BlockMap::round_robin({3, 4}, 3)),
            (std::vector<int>{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}));
  const auto columns = BlockMap::round_robin({3, 4}, 5, MemoryOrder::column_major);
  EXPECT_EQ(columns->owner({2, 1}).value, 0);
}

TEST(BlockMap, TableSaysItAll) {
  const std::vector<TeamRank> table = {{5}, {0}, {5}, {2}};
  const auto block_map = BlockMap::table({2, 2}, table, 6);
  EXPECT_EQ(owners(block_map), (std::vector<int>{5, 0, 5, 2}));
  EXPECT_EQ(block_map->count({5}), 2);
  EXPECT_EQ(block_map->block({5}, 1), (Index{1, 0}));
  EXPECT_EQ(block_map->count({1}), 0);
}

TEST(BlockMap, DealsThatGiveNoSecondBlockAreGrids) {
  EXPECT_EQ(BlockMap::round_robin({2, 2}, 5)->kind(), BlockMapKind::grid);
  EXPECT_EQ(*BlockMap::round_robin({2, 2}, 5), *BlockMap::grid({2, 2}, 5));
  EXPECT_EQ(*BlockMap::cyclic_grid({2, 2}, {2, 2}, 5), *BlockMap::grid({2, 2}, 5));
  EXPECT_EQ(BlockMap::cyclic_grid({2, 1}, {3, 2}, 6)->kind(), BlockMapKind::grid);
  EXPECT_EQ(BlockMap::cyclic_grid({2, 2}, {3, 2}, 6)->owner({1, 1}).value, 3);
}

TEST(BlockMap, EverySmallDealIsConsistent) {
  for (std::int64_t a = 0; a <= 4; ++a) {
    for (std::int64_t b = 1; b <= 4; ++b) {
      for (const MemoryOrder order : orders) {
        expect_consistent(BlockMap::grid({a, b}, a * b + 1, {.order = order}));
        for (std::int64_t ranks = 1; ranks <= 7; ++ranks) {
          expect_consistent(BlockMap::round_robin({a, b}, ranks, order));
          std::vector<TeamRank> table(static_cast<std::size_t>(a * b));
          for (std::size_t i = 0; i < table.size(); ++i) {
            table[i].value =
                static_cast<std::int32_t>((i * i + 3) % static_cast<std::size_t>(ranks));
          }
          expect_consistent(BlockMap::table({a, b}, table, ranks, order));
        }
        for (std::int64_t p = 1; p <= 3; ++p) {
          for (std::int64_t q = 1; q <= 5; ++q) {
            expect_consistent(BlockMap::cyclic_grid({a, b}, {p, q}, p * q + 1, order));
          }
        }
      }
    }
  }
}

TEST(BlockMap, EveryNodeGridIsConsistent) {
  for (const MemoryOrder order : orders) {
    for (std::int64_t a = 1; a <= 4; ++a) {
      for (std::int64_t b = 1; b <= 6; ++b) {
        if (4 % a == 0 && 6 % b == 0) {
          const auto block_map = BlockMap::grid({4, 6}, 25, {.order = order, .node_grid = {a, b}});
          expect_consistent(block_map);
          // The ranks of one node are in one tile.
          for (const Index& block : all_blocks(*block_map)) {
            const Index corner = {block[0] / a * a, block[1] / b * b};
            EXPECT_EQ(block_map->owner(block).value / (a * b),
                      block_map->owner(corner).value / (a * b));
          }
        }
      }
    }
  }
}

TEST(BlockMap, BadArgumentsAreNamed) {
  const auto message = [](const rma::Result<BlockMap>& block_map) {
    EXPECT_EQ(block_map.status().code(), rma::Code::invalid_argument);
    return block_map.status().message();
  };
  EXPECT_NE(message(BlockMap::grid({2, 3}, 5)).find("6 blocks (2 x 3) for 5 ranks"),
            std::string::npos);
  EXPECT_NE(message(BlockMap::grid({4, 4}, 16, {.node_grid = {3, 1}})).find("does not divide"),
            std::string::npos);
  EXPECT_NE(
      message(BlockMap::cyclic_grid({4, 4}, {2, 3}, 5)).find("needs 6 ranks, but the team has 5"),
      std::string::npos);
  EXPECT_NE(message(BlockMap::cyclic_grid({4, 4}, {0, 3}, 5)).find("is empty"), std::string::npos);
  EXPECT_NE(message(BlockMap::cyclic_grid({4, 4}, {3}, 5)).find("dimensions differ"),
            std::string::npos);
  EXPECT_NE(message(BlockMap::round_robin({4, 4}, 0)).find("0 ranks"), std::string::npos);
  const std::vector<TeamRank> table = {{0}, {7}};
  EXPECT_EQ(message(BlockMap::table({2}, table, 4)),
            "owner 7 of block 1 is not a rank of the team, 0 to 3");
  EXPECT_EQ(message(BlockMap::table({3}, table, 4)), "2 owners are given for 3 blocks (3)");
}

}  // namespace
}  // namespace tessera::arrays
