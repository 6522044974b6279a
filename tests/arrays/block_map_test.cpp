// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/block_map.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "tests/arrays/printers.hpp"

namespace tessera::arrays {
namespace {

using rma::TeamRank;

// All block coordinates in the deal's linear order.
std::vector<Index> all_blocks(const Deal& deal) {
  std::vector<Index> blocks(static_cast<std::size_t>(volume(deal.blocks())));
  const Strides strides = dense_strides(deal.blocks(), deal.order());
  for (std::size_t place = 0; place < blocks.size(); ++place) {
    blocks[place] = Index::zeros(deal.ndims());
    for (int dim = 0; dim < deal.ndims(); ++dim) {
      blocks[place][dim] = static_cast<std::int64_t>(place) / strides[dim] % deal.blocks()[dim];
    }
  }
  return blocks;
}

std::vector<int> owners(const rma::Result<Deal>& deal) {
  EXPECT_TRUE(deal.ok()) << deal.status().describe();
  std::vector<int> ranks;
  for (const Index& block : all_blocks(*deal)) {
    ranks.push_back(deal->owner(block).value);
  }
  return ranks;
}

// Each block has one owner, with the number that the deal says, and no other.
void expect_consistent(const rma::Result<Deal>& made) {
  ASSERT_TRUE(made.ok()) << made.status().describe();
  const Deal& deal = *made;
  SCOPED_TRACE(to_string(deal));
  std::int64_t total = 0;
  std::int64_t most = 0;
  for (std::int32_t rank = 0; rank < deal.nranks(); ++rank) {
    const std::int64_t count = deal.count({rank});
    for (std::int64_t number = 0; number < count; ++number) {
      const Index block = deal.block({rank}, number);
      EXPECT_EQ(deal.owner(block).value, rank);
      EXPECT_EQ(deal.number(block), number);
    }
    total += count;
    most = std::max(most, count);
  }
  EXPECT_EQ(total, volume(deal.blocks()));
  EXPECT_EQ(deal.most_blocks(), most);
  std::int64_t place = 0;
  for (const Index& block : all_blocks(deal)) {
    EXPECT_EQ(deal.linear(block), place++);
    const TeamRank owner = deal.owner(block);
    EXPECT_EQ(deal.block(owner, deal.number(block)), block);
  }
}

constexpr MemoryOrder orders[] = {MemoryOrder::row_major, MemoryOrder::column_major};

TEST(Deal, GridGivesOneBlockInLinearOrder) {
  EXPECT_EQ(owners(Deal::grid({2, 3}, 6)), (std::vector<int>{0, 1, 2, 3, 4, 5}));
  const auto columns = Deal::grid({2, 3}, 6, {.order = MemoryOrder::column_major});
  EXPECT_EQ(columns->owner({1, 0}).value, 1);
  EXPECT_EQ(columns->owner({0, 1}).value, 2);
  EXPECT_TRUE(columns->is_one_block_per_rank());
}

TEST(Deal, GridKeepsTheRanksOfANodeTogether) {
  // Nodes of 4 ranks as 2 x 2 tiles of a 4 x 4 grid.
  const auto deal = Deal::grid({4, 4}, 16, {.node_grid = {2, 2}});
  EXPECT_EQ(owners(deal), (std::vector<int>{0, 1, 4, 5, 2, 3, 6, 7,  //
                                            8, 9, 12, 13, 10, 11, 14, 15}));
}

TEST(Deal, NodeGridThatChangesNothingIsNone) {
  EXPECT_EQ(*Deal::grid({4, 4}, 16, {.node_grid = {1, 4}}), *Deal::grid({4, 4}, 16));
  EXPECT_EQ(*Deal::grid({4, 4}, 16, {.node_grid = {2, 4}}), *Deal::grid({4, 4}, 16));
  EXPECT_EQ(*Deal::grid({4, 4}, 16, {.node_grid = {1, 2}}), *Deal::grid({4, 4}, 16));
  EXPECT_NE(*Deal::grid({4, 4}, 16, {.node_grid = {4, 1}}), *Deal::grid({4, 4}, 16));
}

TEST(Deal, CyclicGridRepeats) {
  EXPECT_EQ(owners(Deal::cyclic_grid({3, 4}, {2, 2}, 4)),
            (std::vector<int>{0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1}));
}

TEST(Deal, RoundRobinFollowsTheLinearOrder) {
  EXPECT_EQ(owners(Deal::round_robin({3, 4}, 3)),
            (std::vector<int>{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}));
  const auto columns = Deal::round_robin({3, 4}, 5, MemoryOrder::column_major);
  EXPECT_EQ(columns->owner({2, 1}).value, 0);
}

TEST(Deal, TableSaysItAll) {
  const std::vector<TeamRank> table = {{5}, {0}, {5}, {2}};
  const auto deal = Deal::table({2, 2}, table, 6);
  EXPECT_EQ(owners(deal), (std::vector<int>{5, 0, 5, 2}));
  EXPECT_EQ(deal->count({5}), 2);
  EXPECT_EQ(deal->block({5}, 1), (Index{1, 0}));
  EXPECT_EQ(deal->count({1}), 0);
}

TEST(Deal, DealsThatGiveNoSecondBlockAreGrids) {
  EXPECT_EQ(Deal::round_robin({2, 2}, 5)->kind(), BlockMapKind::grid);
  EXPECT_EQ(*Deal::round_robin({2, 2}, 5), *Deal::grid({2, 2}, 5));
  EXPECT_EQ(*Deal::cyclic_grid({2, 2}, {2, 2}, 5), *Deal::grid({2, 2}, 5));
  EXPECT_EQ(Deal::cyclic_grid({2, 1}, {3, 2}, 6)->kind(), BlockMapKind::grid);
  EXPECT_EQ(Deal::cyclic_grid({2, 2}, {3, 2}, 6)->owner({1, 1}).value, 3);
}

TEST(Deal, EverySmallDealIsConsistent) {
  for (std::int64_t a = 0; a <= 4; ++a) {
    for (std::int64_t b = 1; b <= 4; ++b) {
      for (const MemoryOrder order : orders) {
        expect_consistent(Deal::grid({a, b}, a * b + 1, {.order = order}));
        for (std::int64_t ranks = 1; ranks <= 7; ++ranks) {
          expect_consistent(Deal::round_robin({a, b}, ranks, order));
          std::vector<TeamRank> table(static_cast<std::size_t>(a * b));
          for (std::size_t i = 0; i < table.size(); ++i) {
            table[i].value =
                static_cast<std::int32_t>((i * i + 3) % static_cast<std::size_t>(ranks));
          }
          expect_consistent(Deal::table({a, b}, table, ranks, order));
        }
        for (std::int64_t p = 1; p <= 3; ++p) {
          for (std::int64_t q = 1; q <= 5; ++q) {
            expect_consistent(Deal::cyclic_grid({a, b}, {p, q}, p * q + 1, order));
          }
        }
      }
    }
  }
}

TEST(Deal, EveryNodeGridIsConsistent) {
  for (const MemoryOrder order : orders) {
    for (std::int64_t a = 1; a <= 4; ++a) {
      for (std::int64_t b = 1; b <= 6; ++b) {
        if (4 % a == 0 && 6 % b == 0) {
          const auto deal = Deal::grid({4, 6}, 25, {.order = order, .node_grid = {a, b}});
          expect_consistent(deal);
          // The ranks of one node are in one tile.
          for (const Index& block : all_blocks(*deal)) {
            const Index corner = {block[0] / a * a, block[1] / b * b};
            EXPECT_EQ(deal->owner(block).value / (a * b), deal->owner(corner).value / (a * b));
          }
        }
      }
    }
  }
}

TEST(Deal, BadArgumentsAreNamed) {
  const auto message = [](const rma::Result<Deal>& deal) {
    EXPECT_EQ(deal.status().code(), rma::Code::invalid_argument);
    return deal.status().message();
  };
  EXPECT_NE(message(Deal::grid({2, 3}, 5)).find("6 blocks (2 x 3) for 5 ranks"), std::string::npos);
  EXPECT_NE(message(Deal::grid({4, 4}, 16, {.node_grid = {3, 1}})).find("does not divide"),
            std::string::npos);
  EXPECT_NE(message(Deal::cyclic_grid({4, 4}, {2, 3}, 5)).find("needs 6 ranks, but the team has 5"),
            std::string::npos);
  EXPECT_NE(message(Deal::cyclic_grid({4, 4}, {0, 3}, 5)).find("is empty"), std::string::npos);
  EXPECT_NE(message(Deal::cyclic_grid({4, 4}, {3}, 5)).find("dimensions differ"),
            std::string::npos);
  EXPECT_NE(message(Deal::round_robin({4, 4}, 0)).find("0 ranks"), std::string::npos);
  const std::vector<TeamRank> table = {{0}, {7}};
  EXPECT_EQ(message(Deal::table({2}, table, 4)),
            "owner 7 of block 1 is not a rank of the team, 0 to 3");
  EXPECT_EQ(message(Deal::table({3}, table, 4)), "2 owners are given for 3 blocks (3)");
}

}  // namespace
}  // namespace tessera::arrays
