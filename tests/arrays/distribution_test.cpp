// SPDX-License-Identifier: BSD-3-Clause
//
// Distributions of every kind against brute force: each element has one location on one rank.
// Layouts that other libraries define are compared with their published formulas.
#include "arrays/distribution.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>
#include <vector>

#include "tests/arrays/distribution_kinds.hpp"
#include "tests/arrays/printers.hpp"

namespace tessera::arrays {
namespace {

using kinds::for_each_index;
using kinds::pick;
using kinds::Random;
using rma::TeamRank;

using Places = std::set<std::pair<std::int32_t, std::int64_t>>;

// The owner by definition: search all blocks, then ask the block map.
TeamRank slow_owner(const Distribution& d, const Index& index) {
  Index block = index;
  for (int dim = 0; dim < d.ndims(); ++dim) {
    block[dim] = 0;
    while (index[dim] >= d.partition(dim).hi(block[dim])) {
      ++block[dim];
    }
  }
  return d.block_map().owner(block);
}

// Every element has its own location in its owner's slice.
void expect_bijection(const Distribution& d) {
  Places taken;
  for_each_index(Box::whole(d.extents()), [&](const Index& index) {
    const ElementLocation place = d.locate(index);
    ASSERT_EQ(place.owner, d.owner(index));
    ASSERT_EQ(place.owner, slow_owner(d, index));
    ASSERT_TRUE(place.offset >= 0 && place.offset < d.local_elements(place.owner));
    ASSERT_TRUE(taken.emplace(place.owner.value, place.offset).second) << to_string(index);
  });
}

// The blocks of the ranks tile the array, are where locate() says, and leave room for their ghost
// cells.
void expect_all_blocks(const Distribution& d) {
  std::int64_t total = 0;
  for (std::int32_t rank = 0; rank < d.nranks(); ++rank) {
    const std::int64_t size = d.local_elements({rank});
    EXPECT_LE(size, d.max_local_elements());
    std::int64_t packed = 0;
    for (const Patch& block : d.blocks({rank})) {
      EXPECT_EQ(block.owner.value, rank);
      packed += block.box.volume();
      if (block.box.is_empty()) {
        continue;
      }
      std::int64_t first = block.offset;
      std::int64_t last = block.offset;
      for (int dim = 0; dim < d.ndims(); ++dim) {
        first -= d.ghosts()[dim] * block.strides[dim];
        last += (block.box.extent(dim) - 1 + d.ghosts()[dim]) * block.strides[dim];
      }
      EXPECT_TRUE(first >= 0 && last < size);
      for_each_index(block.box, [&](const Index& index) {
        const ElementLocation place = d.locate(index);
        ASSERT_EQ(place.owner.value, rank);
        ASSERT_EQ(place.offset, block.offset + distance(block.box.lo(), index, block.strides));
      });
    }
    total += packed;
    const bool is_slotted = d.block_map().kind() == BlockMapKind::round_robin;
    EXPECT_TRUE(is_slotted || d.has_ghosts() || size == packed) << "rank " << rank;
    EXPECT_EQ(d.blocks({rank}).size(), d.block_count({rank}));
  }
  EXPECT_EQ(total, volume(d.extents()));
}

// With the dimensions reversed, each element is at the same location.
void expect_reversible(const Distribution& d) {
  const Distribution other = d.reversed();
  EXPECT_EQ(other.extents(), d.extents().reversed());
  EXPECT_EQ(other.ghosts(), d.ghosts().reversed());
  for_each_index(Box::whole(d.extents()), [&](const Index& index) {
    ASSERT_EQ(other.locate(index.reversed()), d.locate(index)) << to_string(index);
  });
  for (std::int32_t rank = 0; rank < d.nranks(); ++rank) {
    EXPECT_EQ(other.local_elements({rank}), d.local_elements({rank}));
  }
  EXPECT_EQ(other.reversed(), d);
}

void expect_sound(const Distribution& d) {
  SCOPED_TRACE(to_string(d));
  expect_bijection(d);
  expect_all_blocks(d);
  expect_reversible(d);
}

TEST(Distribution, EverySmallRegularOneIsSound) {
  for (std::int64_t n = 0; n <= 12; ++n) {
    for (std::int64_t ranks = 1; ranks <= 13; ++ranks) {
      expect_sound(*Distribution::regular({n}, ranks));
      expect_sound(*Distribution::regular({n, 5}, ranks, {.ghosts = {1, 2}}));
    }
  }
}

TEST(Distribution, EverySmallComposedOneIsSound) {
  for (std::int64_t n = 0; n <= 12; ++n) {
    for (std::int64_t parts = 1; parts <= 13; ++parts) {
      for (const BlockPartition1D& partition :
           {*BlockPartition1D::even(n, parts), *BlockPartition1D::by_size(n, parts)}) {
        const std::vector<BlockPartition1D> partitions = {partition};
        for (std::int64_t ranks = 1; ranks <= 4; ++ranks) {
          expect_sound(*Distribution::create(partitions,
                                             *BlockMap::round_robin({partition.blocks()}, ranks)));
          const BlockMap cyclic = *BlockMap::cyclic_grid({partition.blocks()}, {ranks}, ranks);
          expect_sound(*Distribution::create(partitions, cyclic));
          expect_sound(
              *Distribution::create(partitions, cyclic, {.storage = Storage::local_matrix}));
        }
      }
    }
  }
}

TEST(Distribution, RandomOnesOfEveryKindAreSound) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int round = 0; round < 600 && !HasFailure(); ++round) {
    const int ndims = static_cast<int>(pick(random, 1, max_dims));
    const std::int64_t most = ndims <= 2 ? 12 : ndims <= 4 ? 6 : 3;
    expect_sound(kinds::pick_distribution(random, kinds::pick_extents(random, ndims, most)));
  }
}

TEST(Distribution, RegularCutsEvenlyInRowMajorOrder) {
  const Distribution d = *Distribution::regular({10, 9}, 6, {.process_grid = {2, 3}});
  EXPECT_EQ(d.box_of({0}), Box({0, 0}, {5, 3}));
  EXPECT_EQ(d.box_of({1}), Box({0, 3}, {5, 6}));
  EXPECT_EQ(d.box_of({5}), Box({5, 6}, {10, 9}));
  EXPECT_EQ(d.locate({6, 7}).owner.value, 5);
  EXPECT_EQ(d.locate({6, 7}).offset, 4);
  EXPECT_EQ(d.local_extents({5}), (Extents{5, 3}));
}

TEST(Distribution, RanksWithoutBlocksOwnNothing) {
  const Distribution d = *Distribution::regular({2, 1}, 4);
  EXPECT_EQ(d.local_elements({3}), 0);
  EXPECT_TRUE(d.box_of({3}).is_empty());
  EXPECT_EQ(d.block_count({3}), 0);
  EXPECT_EQ(d.local_extents({3}), (Extents{0, 0}));
}

TEST(Distribution, GhostsSurroundTheBlock) {
  const Distribution d = *Distribution::regular({8, 8}, 4, {.ghosts = {1, 2}});
  EXPECT_EQ(d.local_extents({0}), (Extents{6, 8}));
  EXPECT_EQ(d.local_elements({0}), 48);
  EXPECT_EQ(d.locate({0, 0}).offset, 1 * 8 + 2);
  EXPECT_TRUE(d.has_ghosts());
}

TEST(Distribution, NodesHoldCompactParts) {
  const Distribution d = *Distribution::regular({64, 64}, 16, {.ranks_per_node = 4});
  EXPECT_EQ(d.owner({0, 0}).value, 0);
  EXPECT_EQ(d.owner({16, 16}).value, 3);
  EXPECT_EQ(d.owner({0, 32}).value, 4);
  // The ranks of a grid that the user gives are not reordered.
  const Distribution plain =
      *Distribution::regular({64, 64}, 16, {.process_grid = {4, 4}, .ranks_per_node = 4});
  EXPECT_EQ(plain.owner({16, 16}).value, 5);
}

TEST(Distribution, IrregularBlocksBeginAtTheirBounds) {
  const std::vector<std::vector<std::int64_t>> starts = {{0, 1, 7}, {0, 4}};
  const Distribution d = *Distribution::irregular({9, 9}, starts, 7);
  EXPECT_EQ(d.box_of({0}), Box({0, 0}, {1, 4}));
  EXPECT_EQ(d.box_of({3}), Box({1, 4}, {7, 9}));
  EXPECT_EQ(d.local_elements({6}), 0);
  expect_sound(d);
}

// ScaLAPACK's INDXG2P and INDXG2L with source process 0, and its column-major local matrix.
TEST(Distribution, LocalMatrixIsThatOfScalapack) {
  const std::int64_t m = 23;
  const std::int64_t n = 17;
  const std::int64_t mb = 4;
  const std::int64_t nb = 3;
  const std::int64_t p = 2;
  const std::int64_t q = 3;
  const std::vector<BlockPartition1D> partitions = {*BlockPartition1D::by_size(m, mb),
                                                    *BlockPartition1D::by_size(n, nb)};
  const BlockMap block_map =
      *BlockMap::cyclic_grid({partitions[0].blocks(), partitions[1].blocks()}, {p, q}, p * q);
  const Distribution d =
      *Distribution::create(partitions, block_map,
                            {.storage = Storage::local_matrix, .order = MemoryOrder::column_major});
  const auto rows_of = [&](std::int64_t row) {  // NUMROC
    std::int64_t rows = 0;
    for (std::int64_t i = 0; i < m; ++i) {
      rows += i / mb % p == row ? 1 : 0;
    }
    return rows;
  };
  for_each_index(Box::whole({m, n}), [&](const Index& index) {
    const std::int64_t row = index[0] / mb % p;
    const std::int64_t column = index[1] / nb % q;
    const std::int64_t i = index[0] / (mb * p) * mb + index[0] % mb;
    const std::int64_t j = index[1] / (nb * q) * nb + index[1] % nb;
    EXPECT_EQ(d.locate(index).owner.value, row * q + column);
    EXPECT_EQ(d.locate(index).offset, i + j * rows_of(row));
    EXPECT_EQ(d.local_extents(d.owner(index))[0], rows_of(row));
  });
}

TEST(Distribution, BlocksDealtRoundRobinLieInSlots) {
  const std::vector<BlockPartition1D> partitions = {*BlockPartition1D::by_size(10, 4),
                                                    *BlockPartition1D::by_size(6, 4)};
  const Distribution d = *Distribution::create(partitions, *BlockMap::round_robin({3, 2}, 2));
  // Linear blocks 0, 2, 4 on rank 0; the last holds 2 x 4 elements.
  EXPECT_EQ(d.locate({4, 0}), (ElementLocation{{0}, 16}));
  EXPECT_EQ(d.locate({9, 3}), (ElementLocation{{0}, 32 + 7}));
  EXPECT_EQ(d.local_elements({0}), 40);
}

TEST(Distribution, RestrictedOnesUseTheListedRanks) {
  const std::vector<BlockPartition1D> partitions = {*BlockPartition1D::even(10, 2)};
  const std::vector<TeamRank> owners = {{7}, {3}};
  const Distribution d =
      *Distribution::create(partitions, *BlockMap::table({2}, owners, 8), {.ghosts = {1}});
  EXPECT_EQ(d.box_of({7}), Box({0}, {5}));
  EXPECT_EQ(d.box_of({3}), Box({5}, {10}));
  EXPECT_EQ(d.local_elements({3}), 7);
  EXPECT_EQ(d.local_elements({0}), 0);
}

TEST(Distribution, EqualWhenElementsLieAlike) {
  const Distribution d = *Distribution::regular({10, 9}, 6, {.process_grid = {2, 3}});
  EXPECT_EQ(d, *Distribution::regular({10, 9}, 6, {.process_grid = {2, 3}}));
  const std::vector<std::vector<std::int64_t>> starts = {{0, 5}, {0, 3, 6}};
  EXPECT_EQ(d, *Distribution::irregular({10, 9}, starts, 6));
  EXPECT_NE(d, *Distribution::regular({10, 9}, 6, {.process_grid = {3, 2}}));
  EXPECT_NE(d, *Distribution::regular({10, 9}, 7, {.process_grid = {2, 3}}));
  EXPECT_NE(d, *Distribution::regular({10, 9}, 6, {.process_grid = {2, 3}, .ghosts = {1, 1}}));
  EXPECT_NE(d, *Distribution::regular(
                   {10, 9}, 6, {.process_grid = {2, 3}, .order = MemoryOrder::column_major}));
}

TEST(Distribution, FingerprintsTellWhatIsEqual) {
  const auto print = [](const rma::Result<Distribution>& d) { return fingerprint(*d); };
  const auto regular = [&](const RegularOptions& options) {
    return print(Distribution::regular({10, 9}, 6, options));
  };
  using Starts = std::vector<std::vector<std::int64_t>>;
  const auto at = [&](const Starts& starts) {
    return print(Distribution::irregular({10, 9}, starts, 6));
  };
  const std::vector<BlockPartition1D> halves = {*BlockPartition1D::even(9, 5)};
  const std::vector<BlockPartition1D> pairs = {*BlockPartition1D::by_size(9, 2)};
  EXPECT_EQ(print(Distribution::create(halves, *BlockMap::grid({5}, 6))),
            print(Distribution::create(pairs, *BlockMap::grid({5}, 6))));
  EXPECT_EQ(regular({.process_grid = {2, 3}}), at({{0, 5}, {0, 3, 6}}));

  const std::vector<BlockPartition1D> partitions = {*BlockPartition1D::by_size(10, 5),
                                                    *BlockPartition1D::by_size(9, 3)};
  const auto given_map = [&](const rma::Result<BlockMap>& block_map,
                             const StorageOptions& options = {}) {
    return print(Distribution::create(partitions, *block_map, options));
  };
  const Extents blocks{2, 3};
  const std::vector<TeamRank> owners = {{0}, {0}, {1}, {1}, {2}, {2}};
  const std::vector<TeamRank> others = {{0}, {0}, {1}, {2}, {1}, {2}};
  const auto column = MemoryOrder::column_major;
  const std::set<std::uint64_t> all = {
      regular({.process_grid = {2, 3}}),
      regular({.process_grid = {3, 2}}),
      regular({.process_grid = {2, 3}, .ghosts = {1, 1}}),
      regular({.process_grid = {2, 3}, .order = column}),
      at({{0, 4}, {0, 3, 6}}),
      at({{0, 4}, {0, 3, 7}}),
      given_map(BlockMap::grid(blocks, 7)),
      given_map(BlockMap::grid(blocks, 6, {.node_grid = {2, 1}})),
      given_map(BlockMap::round_robin(blocks, 4)),
      given_map(BlockMap::round_robin(blocks, 4, column)),
      given_map(BlockMap::cyclic_grid(blocks, {2, 2}, 4)),
      given_map(BlockMap::cyclic_grid(blocks, {2, 2}, 4), {.storage = Storage::local_matrix}),
      given_map(BlockMap::cyclic_grid(blocks, {2, 2}, 4), {.order = column}),
      given_map(BlockMap::cyclic_grid(blocks, {1, 3}, 4)),
      given_map(BlockMap::table(blocks, owners, 4)),
      given_map(BlockMap::table(blocks, others, 4))};
  EXPECT_EQ(all.size(), 16U);
}

TEST(Distribution, AZeroExtentMakesItEmptyHoweverLargeTheOthers) {
  constexpr std::int64_t huge = std::int64_t{1} << 40;
  const Extents extents{huge, huge, 0};
  const Extents none{huge, huge, 0};
  const std::vector<BlockPartition1D> ones = {*BlockPartition1D::by_size(huge, 1),
                                              *BlockPartition1D::by_size(huge, 1),
                                              *BlockPartition1D::by_size(0, 1)};
  const std::vector<BlockPartition1D> even = {*BlockPartition1D::even(huge, 2),
                                              *BlockPartition1D::even(huge, 2),
                                              *BlockPartition1D::even(0, 2)};
  const Extents eight{2, 2, 2};
  for (const auto& d : {Distribution::regular(extents, 4),
                        Distribution::create(ones, *BlockMap::round_robin(none, 4)),
                        Distribution::create(ones, *BlockMap::cyclic_grid(none, {1, 2, 2}, 4)),
                        Distribution::create(even, *BlockMap::round_robin(eight, 4)),
                        Distribution::create(even, *BlockMap::cyclic_grid(eight, {1, 1, 2}, 4)),
                        Distribution::create(even, *BlockMap::cyclic_grid(eight, {1, 1, 2}, 4),
                                             {.storage = Storage::local_matrix})}) {
    ASSERT_TRUE(d.ok()) << d.status().message();
    EXPECT_EQ(d->max_local_elements(), 0);
    EXPECT_EQ(d->local_elements({0}), 0);
    for (const Patch& block : d->blocks({0})) {
      EXPECT_TRUE(block.box.is_empty());
    }
  }
}

TEST(Distribution, ATableThatNoMemoryHoldsIsAnError) {
  constexpr std::int64_t many = std::int64_t{1} << 59;
  const std::vector<std::int64_t> starts = {0, 1, 4};
  const std::vector<BlockPartition1D> partitions = {*BlockPartition1D::at_bounds(5, starts),
                                                    *BlockPartition1D::by_size(many, 1)};
  const auto d = Distribution::create(partitions, *BlockMap::round_robin({3, many}, 2));
  EXPECT_EQ(d.status().code(), rma::Code::no_memory);
  EXPECT_NE(d.status().message().find("a table of 1729382256910270464 blocks"), std::string::npos)
      << d.status().message();
}

TEST(Distribution, StaysAfterItWasMovedFrom) {
  Distribution d = *Distribution::regular({4}, 2);
  // A move is a copy, on purpose.
  const Distribution other = std::move(d);  // NOLINT(performance-move-const-arg)
  EXPECT_EQ(d, other);                      // NOLINT: what it is for
}

TEST(Distribution, PrintsForMessages) {
  EXPECT_EQ(
      to_string(*Distribution::regular({10, 9}, 6, {.process_grid = {2, 3}, .ghosts = {1, 0}})),
      "10 x 9: 2 x 3 blocks, at most one on each of 6 ranks, row-major, ghosts 1 x 0");
}

TEST(Distribution, BadArgumentsAreNamed) {
  const auto expect_error = [](const rma::Result<Distribution>& d, rma::Code code,
                               const std::string& text) {
    EXPECT_EQ(d.status().code(), code);
    EXPECT_NE(d.status().message().find(text), std::string::npos) << d.status().message();
  };
  const auto invalid = rma::Code::invalid_argument;
  const auto unsupported = rma::Code::unsupported;
  expect_error(Distribution::regular({}, 4), invalid, "at least one dimension");
  expect_error(Distribution::regular({4, -4}, 4), invalid, "extent -4 of dimension 1");
  expect_error(Distribution::regular({4, 4}, 0), invalid, "0 ranks");
  expect_error(Distribution::regular({4, 4}, 4, {.process_grid = {3, 3}}), invalid,
               "process grid 3 x 3 needs more ranks than the 4");
  expect_error(Distribution::regular({4, 4}, 4, {.ghosts = {1}}), invalid,
               "1 ghost widths are given for 2 dimensions");
  expect_error(Distribution::regular({4, 4}, 4, {.ghosts = {1, -1}}), invalid,
               "distributing 4 x 4 on 4 ranks: ghost width -1 of dimension 1 is negative");
  const std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  expect_error(Distribution::regular({4, 4}, 4, {.ghosts = {1, largest}}), invalid, "63 bits");
  expect_error(Distribution::regular({4, 4}, 4, {.ghosts = {largest / 4, largest / 4}}), invalid,
               "63 bits");

  const std::vector<std::vector<std::int64_t>> starts = {{0, 1}, {0, 3, 3}};
  expect_error(Distribution::irregular({4, 4}, starts, 6), invalid,
               "distributing 4 x 4 on 6 ranks: dimension 1: bounds must increase strictly, but "
               "bounds[1] is 3 and bounds[2] is 3");
  expect_error(Distribution::irregular({4}, starts, 6), invalid, "bounds for 2 dimensions");
  const std::vector<std::vector<std::int64_t>> six = {{0, 1}, {0, 1, 3}};
  expect_error(Distribution::irregular({4, 4}, six, 5), invalid, "6 blocks (2 x 3) for 5 ranks");

  const std::vector<BlockPartition1D> partitions = {*BlockPartition1D::by_size(10, 2)};
  const BlockMap robin = *BlockMap::round_robin({5}, 2);
  expect_error(Distribution::create(partitions, *BlockMap::round_robin({4}, 2)), invalid,
               "dimension 0 is cut into 5 blocks, but the block map has 4");
  expect_error(Distribution::create(partitions, *BlockMap::round_robin({5, 1}, 2)), invalid,
               "the partitions have 1 dimensions, the block map has 2");
  expect_error(Distribution::create(partitions, robin, {.ghosts = {1}}), unsupported,
               "need at most one block on each rank; here a rank has 3");
  expect_error(Distribution::create(partitions, robin, {.storage = Storage::local_matrix}),
               unsupported, "do not form a local matrix");
  const std::vector<BlockPartition1D> nine(9, *BlockPartition1D::even(1, 1));
  expect_error(Distribution::create(nine, robin), invalid, "more than 8 dimensions");
}

}  // namespace
}  // namespace tessera::arrays
