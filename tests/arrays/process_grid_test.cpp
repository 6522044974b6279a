// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/process_grid.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

#include "tests/arrays/printers.hpp"

namespace tessera::arrays {
namespace {

Extents grid_of(const Extents& extents, std::int64_t ranks,
                const ProcessGridOptions& options = {}) {
  const auto chosen = choose_process_grid(extents, ranks, options);
  EXPECT_TRUE(chosen.ok()) << chosen.status().describe();
  return chosen->grid;
}

std::int64_t largest_block(const Extents& extents, const Extents& grid) {
  std::int64_t elements = 1;
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    elements *= (extents[dim] + grid[dim] - 1) / grid[dim];
  }
  return elements;
}

double cut_area(const Extents& extents, const Extents& grid) {
  double area = 0.0;
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    area += static_cast<double>(grid[dim] - 1) / static_cast<double>(extents[dim]);
  }
  return area;
}

// All grids of exactly `ranks` ranks with at least one element in each block.
void all_grids(const Extents& extents, std::int64_t ranks, int dim, Extents& grid,
               std::vector<Extents>& found) {
  if (dim == extents.ndims()) {
    if (ranks == 1) {
      found.push_back(grid);
    }
    return;
  }
  for (std::int64_t p = 1; p <= std::min(ranks, extents[dim]); ++p) {
    if (ranks % p == 0) {
      grid[dim] = p;
      all_grids(extents, ranks / p, dim + 1, grid, found);
    }
  }
}

TEST(ProcessGrid, CubesAreCutIntoCubes) {
  EXPECT_EQ(grid_of({64, 64, 64}, 8), (Extents{2, 2, 2}));
  EXPECT_EQ(grid_of({100, 100}, 16), (Extents{4, 4}));
  EXPECT_EQ(grid_of({100, 100}, 1), (Extents{1, 1}));
}

TEST(ProcessGrid, LongDimensionsAreCutMore) {
  EXPECT_EQ(grid_of({1000, 10}, 4), (Extents{4, 1}));
  EXPECT_EQ(grid_of({10, 1000}, 4), (Extents{1, 4}));
  EXPECT_EQ(grid_of({2000, 1000}, 8), (Extents{4, 2}));
}

TEST(ProcessGrid, PrimesMakeSlabsOfTheSlowDimension) {
  EXPECT_EQ(grid_of({100, 100}, 7), (Extents{7, 1}));
  EXPECT_EQ(grid_of({100, 100}, 7, {.order = MemoryOrder::column_major}), (Extents{1, 7}));
}

TEST(ProcessGrid, EqualsCutTheSlowDimensionMore) {
  EXPECT_EQ(grid_of({100, 100}, 8), (Extents{4, 2}));
  EXPECT_EQ(grid_of({100, 100}, 8, {.order = MemoryOrder::column_major}), (Extents{2, 4}));
}

TEST(ProcessGrid, BlocksAreNotShorterThanAskedFor) {
  EXPECT_EQ(grid_of({100, 100}, 16, {.min_block = {50, 0}}), (Extents{2, 8}));
  EXPECT_EQ(grid_of({100, 100}, 4, {.min_block = {0, 100}}), (Extents{4, 1}));
  // Ranks stay idle if the limits leave no other choice.
  EXPECT_EQ(grid_of({100, 100}, 64, {.min_block = {30, 60}}), (Extents{3, 1}));
}

TEST(ProcessGrid, FixedEntriesAreKept) {
  EXPECT_EQ(grid_of({100, 100}, 12, {.fixed = {2, 0}}), (Extents{2, 6}));
  EXPECT_EQ(grid_of({100, 100}, 12, {.fixed = {1, 5}}), (Extents{1, 5}));
  EXPECT_EQ(grid_of({3, 3}, 12, {.fixed = {12, 1}}), (Extents{12, 1}));
  EXPECT_EQ(grid_of({100, 100}, 7, {.fixed = {2, 0}}), (Extents{2, 3}));
}

TEST(ProcessGrid, RanksStayEmptyOnlyWhereTheyMust) {
  EXPECT_EQ(grid_of({100, 100}, 97), (Extents{97, 1}));
  EXPECT_EQ(grid_of({64, 64}, 101), (Extents{11, 9}));
  EXPECT_EQ(grid_of({4, 4}, 7), (Extents{3, 2}));
  EXPECT_EQ(grid_of({3, 3}, 100), (Extents{3, 3}));
  EXPECT_EQ(grid_of({1, 1, 1}, 5), (Extents{1, 1, 1}));
  EXPECT_EQ(grid_of({0, 10}, 4), (Extents{1, 4}));
}

TEST(ProcessGrid, RanksMayStayEmptyForBalance) {
  EXPECT_EQ(grid_of({100, 100}, 97, {.may_idle = true}), (Extents{12, 8}));
  EXPECT_EQ(grid_of({100}, 30, {.may_idle = true}), (Extents{30}));
}

TEST(ProcessGrid, NodesGetCompactParts) {
  const auto chosen = choose_process_grid({64, 64, 64}, 64, {.ranks_per_node = 8});
  EXPECT_EQ(chosen->grid, (Extents{4, 4, 4}));
  EXPECT_EQ(chosen->node_grid, (Extents{2, 2, 2}));
  // Among the equal grids 8 x 4 and 4 x 8, and the sub-grids of a node: the shortest border between
  // nodes.
  const auto flat = choose_process_grid({64, 64}, 32, {.ranks_per_node = 4});
  EXPECT_EQ(flat->grid, (Extents{8, 4}));
  EXPECT_EQ(flat->node_grid, (Extents{2, 2}));
}

TEST(ProcessGrid, NodesDecideBetweenEqualSurfaces) {
  // 3 x 4 and 2 x 6 have equal cuts here, but only the latter divides into nodes of 2 x 2.
  EXPECT_EQ(grid_of({60, 120}, 12), (Extents{3, 4}));
  const auto chosen = choose_process_grid({60, 120}, 12, {.ranks_per_node = 4});
  EXPECT_EQ(chosen->grid, (Extents{2, 6}));
  EXPECT_EQ(chosen->node_grid, (Extents{2, 2}));
}

TEST(ProcessGrid, NodesDoNotMatterWhereTheyDoNotFit) {
  EXPECT_TRUE(choose_process_grid({64, 64}, 9, {.ranks_per_node = 4})->node_grid.is_empty());
  EXPECT_TRUE(choose_process_grid({64, 64}, 4, {.ranks_per_node = 4})->node_grid.is_empty());
  EXPECT_TRUE(choose_process_grid({64, 64}, 4, {.ranks_per_node = 1})->node_grid.is_empty());
}

// Compared with all existing grids: none within the balance has less surface.
TEST(ProcessGrid, NoBetterGridExists) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto up_to = [&](std::int64_t n) {
    return std::uniform_int_distribution<std::int64_t>(1, n)(random);
  };
  for (int round = 0; round < 500; ++round) {
    Extents extents = Extents::zeros(static_cast<int>(up_to(4)));
    for (int dim = 0; dim < extents.ndims(); ++dim) {
      extents[dim] = up_to(60);
    }
    const std::int64_t ranks = up_to(200);
    std::vector<Extents> grids;
    Extents scratch = extents;
    all_grids(extents, ranks, 0, scratch, grids);
    if (grids.empty()) {
      EXPECT_LE(volume(grid_of(extents, ranks)), ranks);
      continue;
    }
    std::int64_t best_block = std::numeric_limits<std::int64_t>::max();
    for (const Extents& grid : grids) {
      best_block = std::min(best_block, largest_block(extents, grid));
    }
    const Extents chosen = grid_of(extents, ranks);
    const double bound = 1.1 * static_cast<double>(best_block) * (1.0 + 1e-9);
    EXPECT_EQ(volume(chosen), ranks);
    EXPECT_LE(static_cast<double>(largest_block(extents, chosen)), bound);
    for (const Extents& grid : grids) {
      if (static_cast<double>(largest_block(extents, grid)) <= bound) {
        EXPECT_LE(cut_area(extents, chosen), cut_area(extents, grid) + 1e-9)
            << to_string(extents) << " on " << ranks << ": " << to_string(chosen) << " or "
            << to_string(grid);
      }
    }
  }
}

TEST(ProcessGrid, BadArgumentsAreNamed) {
  const auto message = [](const Extents& extents, std::int64_t ranks,
                          const ProcessGridOptions& options) {
    const auto chosen = choose_process_grid(extents, ranks, options);
    EXPECT_EQ(chosen.status().code(), rma::Code::invalid_argument);
    return chosen.status().message();
  };
  EXPECT_EQ(message({100, 100}, 4, {.fixed = {3, 2}}),
            "choosing a process grid for 100 x 100 on 4 ranks: the process grid 3 x 2 needs more "
            "ranks than the 4 available");
  EXPECT_NE(message({100, 100}, 4, {.min_block = {5}}).find("the minimum block 5 has 1 dimensions"),
            std::string::npos);
  EXPECT_NE(message({100, 100}, 4, {.min_block = {5, -1}}).find("negative entry"),
            std::string::npos);
  EXPECT_NE(message({100, 100}, 0, {}).find("0 ranks"), std::string::npos);
  EXPECT_NE(message({}, 4, {}).find("at least one dimension"), std::string::npos);
}

TEST(ProcessGrid, NodesOfUnlikeSizesShareTheirDivisor) {
  const auto per_node = [](const std::vector<std::int32_t>& nodes) {
    std::vector<rma::NodeId> ids;
    for (const std::int32_t node : nodes) {
      ids.push_back(rma::NodeId{node});
    }
    return ranks_per_node(ids);
  };
  EXPECT_EQ(per_node({0, 0, 0}), 3);
  EXPECT_EQ(per_node({0, 0, 0, 0, 1, 1}), 2);
  EXPECT_EQ(per_node({0, 0, 0, 1, 1}), 1);
  EXPECT_EQ(per_node({0, 1, 0, 1}), 1);
  EXPECT_EQ(per_node({1, 1, 0, 0}), 2);
}

}  // namespace
}  // namespace tessera::arrays
