// SPDX-License-Identifier: BSD-3-Clause
//
// Strided and scattered transfers: random shapes and lists compared with the model, and common
// shapes compared with plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "rma/transfer.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/model_memory.hpp"
#include "tests/support/rank_main.hpp"
#include "tests/support/shared_seed.hpp"

namespace tessera::rma {
namespace {

using test::fails;
using test::ModelMemory;
using test::neighbour;
using test::ok;
using test::on_ranks;
using test::random_in;
using test::SharedSeed;

constexpr std::size_t shaped_slice_bytes = std::size_t{128} * 1024;

// A shape, its offset in a slice, and local memory for it.
struct PlacedShape {
  CopyShape shape;
  std::uint64_t offset = 0;
  test::Side local;
};

PlacedShape place_shape(std::mt19937_64& random, const CopyShape& shape) {
  PlacedShape placed;
  placed.shape = shape;
  const CopyShape::Extent remote = shape.remote_extent();
  const CopyShape::Extent local = shape.local_extent();
  placed.offset = static_cast<std::uint64_t>(random_in(
      random, -remote.lowest, static_cast<std::int64_t>(shaped_slice_bytes) - remote.highest));
  placed.local = test::make_side(random, local.lowest, local.highest,
                                 static_cast<std::size_t>(random_in(random, 0, 8)));
  return placed;
}

PlacedShape random_placed_shape(std::mt19937_64& random, int levels) {
  const std::int64_t unit = std::int64_t{1} << random_in(random, 0, 4);
  const auto run = static_cast<std::size_t>(
      random_in(random, 0, 5) == 0 ? random_in(random, 65, 300) : random_in(random, 0, 32));
  PlacedShape placed = place_shape(random, test::random_disjoint_shape(random, levels, run, unit));
  return placed;
}

// Compares the slice of this rank, which only the rank before writes.
void compare_slice(Job& job, const Region& region, TeamRank target, ModelMemory& model,
                   const CopyShape& shape) {
  std::vector<std::byte> slice(shaped_slice_bytes);
  ASSERT_TRUE(ok(get(job, region.at(target), slice.data(), slice.size())));
  ASSERT_EQ(slice, model.slice(0)) << test::describe(shape);
}

TEST(ShapedPut, AgreesWithTheModelForRandomShapes) {
  on_ranks([](Job& job) {
    const SharedSeed seed(job);
    std::mt19937_64 random = seed.generator(job.rank().value);
    Region region = Region::allocate(job.world(), shaped_slice_bytes).value();
    const TeamRank target = neighbour(job);
    ModelMemory model(1, shaped_slice_bytes);
    for (int round = 0; round < tessera::test::rounds(90); ++round) {
      PlacedShape placed = random_placed_shape(random, round % (max_stride_levels + 1));
      const RemoteAddress at = region.at(target, placed.offset);
      const std::byte* const from = placed.local.at(0);
      const Status status = round % 2 == 0 ? put(job, at, from, placed.shape)
                                           : put_async(job, at, from, placed.shape).wait();
      ASSERT_TRUE(ok(status)) << test::describe(placed.shape);
      model.put(0, placed.offset, from, placed.shape);
      compare_slice(job, region, target, model, placed.shape);
      ASSERT_FALSE(testing::Test::HasFatalFailure());
    }
  });
}

TEST(ShapedGet, AgreesWithTheModelForRandomShapes) {
  on_ranks([](Job& job) {
    const SharedSeed seed(job);
    std::mt19937_64 random = seed.generator(job.rank().value);
    Region region = Region::allocate(job.world(), shaped_slice_bytes).value();
    const TeamRank target = neighbour(job);
    ModelMemory model(1, shaped_slice_bytes);
    test::fill(random, model.slice(0));
    ASSERT_TRUE(ok(put(job, region.at(target), model.slice(0).data(), shaped_slice_bytes)));
    for (int round = 0; round < tessera::test::rounds(180); ++round) {
      PlacedShape placed = random_placed_shape(random, round % (max_stride_levels + 1));
      test::Side expected = placed.local;
      model.get(0, placed.offset, expected.at(0), placed.shape);
      const RemoteAddress at = region.at(target, placed.offset);
      const Status status = round % 2 == 0
                                ? get(job, at, placed.local.at(0), placed.shape)
                                : get_async(job, at, placed.local.at(0), placed.shape).wait();
      ASSERT_TRUE(ok(status)) << test::describe(placed.shape);
      ASSERT_EQ(placed.local.bytes, expected.bytes) << test::describe(placed.shape);
    }
  });
}

TEST(ShapedPut, TransposesATile) {
  on_ranks([](Job& job) {
    constexpr std::int64_t rows = 17;
    constexpr std::int64_t columns = 9;
    Region region = Region::allocate(job.world(), rows * columns * 8).value();
    std::vector<double> tile(rows * columns);
    std::iota(tile.begin(), tile.end(), 100.0 * job.rank().value);
    CopyShape shape = CopyShape::contiguous(8);
    shape.repeat(columns, 8, rows * 8).repeat(rows, columns * 8, 8);
    ASSERT_TRUE(ok(put(job, region.at(neighbour(job)), tile.data(), shape)));
    std::vector<double> transposed(tile.size());
    ASSERT_TRUE(ok(get(job, region.at(neighbour(job)), transposed.data(), tile.size() * 8)));
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        ASSERT_EQ(transposed[static_cast<std::size_t>(j * rows + i)],
                  tile[static_cast<std::size_t>(i * columns + j)]);
      }
    }
  });
}

TEST(ShapedGet, ReversesByNegativeStrides) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 800).value();
    std::vector<std::int64_t> up(100);
    std::iota(up.begin(), up.end(), 0);
    const TeamRank target = neighbour(job);
    ASSERT_TRUE(ok(put(job, region.at(target), up.data(), 800)));
    std::vector<std::int64_t> down(100);
    ASSERT_TRUE(ok(get(job, region.at(target, std::uint64_t{99} * 8), down.data(),
                       CopyShape::rows(8, 100, 8, -8))));
    std::reverse(up.begin(), up.end());
    EXPECT_EQ(down, up);
  });
}

TEST(ShapedGet, ReadsOneElementManyTimesByStrideZero) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 64).value();
    ASSERT_TRUE(ok(put_value(job, region.at(neighbour(job), 8), 2.5)));
    std::vector<double> copies(50);
    ASSERT_TRUE(
        ok(get(job, region.at(neighbour(job), 8), copies.data(), CopyShape::rows(8, 50, 8, 0))));
    EXPECT_EQ(copies, std::vector<double>(50, 2.5));
  });
}

// Pieces of random lengths that cover distinct parts of a slice, in ascending order.
std::vector<Fragment> random_fragments(std::mt19937_64& random, std::byte* local) {
  std::vector<Fragment> list;
  std::uint64_t at = static_cast<std::uint64_t>(random_in(random, 0, 64));
  while (list.size() < 300) {
    const auto bytes = static_cast<std::size_t>(
        random_in(random, 0, 9) == 0 ? random_in(random, 0, 900) : random_in(random, 0, 40));
    if (at + bytes > shaped_slice_bytes) {
      break;
    }
    list.push_back({local + at, at, bytes});
    at += bytes + static_cast<std::uint64_t>(random_in(random, 0, 1) * random_in(random, 0, 99));
  }
  return list;
}

TEST(ScatteredPut, AgreesWithTheModelInAnyOrder) {
  on_ranks([](Job& job) {
    const SharedSeed seed(job);
    std::mt19937_64 random = seed.generator(job.rank().value);
    Region region = Region::allocate(job.world(), shaped_slice_bytes).value();
    const TeamRank target = neighbour(job);
    ModelMemory model(1, shaped_slice_bytes);
    std::vector<std::byte> local(shaped_slice_bytes);
    for (int round = 0; round < tessera::test::rounds(20); ++round) {
      test::fill(random, local);
      std::vector<Fragment> list = random_fragments(random, local.data());
      if (round % 2 == 1) {
        std::shuffle(list.begin(), list.end(), random);
      }
      for (const Fragment& each : list) {
        model.put(0, each.remote_offset, static_cast<const std::byte*>(each.local),
                  CopyShape::contiguous(each.bytes));
      }
      if (round % 4 < 2) {
        ASSERT_TRUE(ok(put(job, region.at(target), list)));
      } else {
        Handle handle = put_async(job, region.at(target), list);
        list.clear();
        ASSERT_TRUE(ok(handle.wait()));
      }
      compare_slice(job, region, target, model, {});
      ASSERT_FALSE(testing::Test::HasFatalFailure());
    }
  });
}

TEST(ScatteredGet, AgreesWithTheModelAndOffsetsAreRelative) {
  on_ranks([](Job& job) {
    const SharedSeed seed(job);
    std::mt19937_64 random = seed.generator(job.rank().value);
    constexpr std::uint64_t start = 1000;
    Region region = Region::allocate(job.world(), shaped_slice_bytes + start).value();
    const TeamRank target = neighbour(job);
    std::vector<std::byte> remote(shaped_slice_bytes);
    test::fill(random, remote);
    ASSERT_TRUE(ok(put(job, region.at(target, start), remote.data(), remote.size())));
    for (int round = 0; round < 10; ++round) {
      std::vector<std::byte> local(shaped_slice_bytes);
      std::vector<std::byte> expected(shaped_slice_bytes);
      std::vector<Fragment> list = random_fragments(random, local.data());
      std::shuffle(list.begin(), list.end(), random);
      for (const Fragment& each : list) {
        std::memcpy(expected.data() + each.remote_offset, remote.data() + each.remote_offset,
                    each.bytes);
      }
      const RemoteAddress at = region.at(target, start);
      ASSERT_TRUE(ok(round % 2 == 0 ? get(job, at, list) : get_async(job, at, list).wait()));
      ASSERT_EQ(local, expected);
    }
  });
}

TEST(ScatteredTransfers, WithOverlappingTargetsAreRefusedAndChangeNothing) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 256).value();
    const RemoteAddress at = region.at(neighbour(job));
    std::vector<std::byte> local(256, std::byte{7});
    const std::vector<Fragment> twice{
        {local.data(), 100, 16}, {local.data() + 16, 0, 8}, {local.data() + 32, 115, 4}};
    EXPECT_TRUE(
        fails(put(job, at, twice), Code::invalid_argument,
              {"fragments 0 and 2 overlap", "at the target", "TESSERA_TUNE=check_overlap"}));
    EXPECT_TRUE(fails(put_async(job, at, twice).wait(), Code::invalid_argument));
    for (const std::uint64_t offset : {0U, 100U, 115U}) {
      EXPECT_EQ(get_value<std::byte>(job, at + offset).value(), std::byte{0});
    }
    // A get writes local memory: target bytes may be read twice, but local bytes must not be
    // written twice.
    std::vector<Fragment> reads{{local.data(), 100, 16}, {local.data() + 16, 100, 16}};
    EXPECT_TRUE(ok(get(job, at, reads)));
    reads[1].local = local.data() + 15;
    EXPECT_TRUE(fails(get(job, at, reads), Code::invalid_argument,
                      {"fragments 0 and 1 overlap", "in local memory"}));
    // Adjacent fragments do not overlap, and empty fragments overlap nothing.
    EXPECT_TRUE(ok(put(
        job, at,
        std::vector<Fragment>{{local.data(), 8, 8}, {local.data() + 8, 0, 8}, {nullptr, 10, 0}})));
  });
}

TEST(ScatteredPut, ThatOverlapsIsPerformedIfTheCheckIsOff) {
  on_ranks({.change = [](Settings& settings) { settings.check_overlap = 0; }}, [](Job& job) {
    Region region = Region::allocate(job.world(), 64).value();
    const RemoteAddress at = region.at(neighbour(job));
    std::int64_t value = 5;
    const std::vector<Fragment> twice{{&value, 8, 8}, {&value, 8, 8}};
    EXPECT_TRUE(ok(put(job, at, twice)));
    EXPECT_EQ(get_value<std::int64_t>(job, at + 8).value(), 5);
  });
}

}  // namespace
}  // namespace tessera::rma
