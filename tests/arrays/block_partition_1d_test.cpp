// SPDX-License-Identifier: BSD-3-Clause
//
// Exhaustive for small axes: every index of every partition against lists of block lengths.
#include "arrays/block_partition_1d.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace tessera::arrays {
namespace {

using Lengths = std::vector<std::int64_t>;

void expect_blocks(const BlockPartition1D& partition, const Lengths& lengths) {
  SCOPED_TRACE(to_string(partition));
  ASSERT_EQ(partition.blocks(), static_cast<std::int64_t>(lengths.size()));
  EXPECT_EQ(partition.extent(), std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}));
  std::int64_t index = 0;
  std::int64_t largest = 0;
  for (std::int64_t block = 0; block < partition.blocks(); ++block) {
    const std::int64_t length = lengths[static_cast<std::size_t>(block)];
    EXPECT_EQ(partition.lo(block), index);
    EXPECT_EQ(partition.length(block), length);
    for (std::int64_t place = 0; place < length; ++place, ++index) {
      EXPECT_EQ(partition.find(index), (BlockPartition1D::Position{block, place}))
          << "index " << index;
    }
    EXPECT_EQ(partition.hi(block), index);
    largest = std::max(largest, length);
  }
  EXPECT_EQ(partition.largest(), largest);
}

void expect_lengths_by_step(const BlockPartition1D& partition) {
  for (std::int64_t step = 1; step <= 4; ++step) {
    for (std::int64_t first = 0; first < partition.blocks(); ++first) {
      std::int64_t total = 0;
      std::int64_t count = 0;
      for (std::int64_t block = first; block < partition.blocks(); block += step) {
        EXPECT_EQ(partition.length_of(first, step, count), total);
        total += partition.length(block);
        ++count;
      }
      EXPECT_EQ(partition.length_of(first, step, count), total) << to_string(partition);
    }
  }
}

TEST(BlockPartition1D, EvenBlocksDifferByOneLongerFirst) {
  for (std::int64_t extent = 0; extent <= 12; ++extent) {
    for (std::int64_t blocks = 1; blocks <= 14; ++blocks) {
      Lengths lengths(static_cast<std::size_t>(blocks), 0);
      for (std::int64_t i = 0; i < extent; ++i) {
        ++lengths[static_cast<std::size_t>(i % blocks)];
      }
      const auto partition = BlockPartition1D::even(extent, blocks);
      ASSERT_TRUE(partition.ok());
      expect_blocks(*partition, lengths);
      expect_lengths_by_step(*partition);
    }
  }
}

TEST(BlockPartition1D, BlocksBySizeEndWithAShorterOne) {
  for (std::int64_t extent = 0; extent <= 12; ++extent) {
    for (std::int64_t size = 1; size <= 14; ++size) {
      Lengths lengths;
      for (std::int64_t rest = extent; rest > 0; rest -= size) {
        lengths.push_back(std::min(rest, size));
      }
      const auto partition = BlockPartition1D::by_size(extent, size);
      ASSERT_TRUE(partition.ok());
      expect_blocks(*partition, lengths);
      expect_lengths_by_step(*partition);
    }
  }
}

// Every way to cut an axis of up to 10 elements: each bit of `partitions` says whether a bound is
// there.
TEST(BlockPartition1D, BlocksBeginAtTheirBounds) {
  for (std::int64_t extent = 1; extent <= 10; ++extent) {
    for (unsigned partitions = 0; partitions < (1U << (extent - 1)); ++partitions) {
      Lengths starts = {0};
      Lengths lengths = {1};
      for (std::int64_t i = 1; i < extent; ++i) {
        if ((partitions >> (i - 1) & 1U) != 0) {
          starts.push_back(i);
          lengths.push_back(0);
        }
        ++lengths.back();
      }
      const auto partition = BlockPartition1D::at_bounds(extent, starts);
      ASSERT_TRUE(partition.ok());
      expect_blocks(*partition, lengths);
      expect_lengths_by_step(*partition);
    }
  }
  const Lengths zero = {0};
  expect_blocks(*BlockPartition1D::at_bounds(0, zero), {0});
}

TEST(BlockPartition1D, EqualityIsThatOfTheBlocks) {
  const Lengths even = {0, 3, 5};
  const Lengths sized = {0, 4, 8};
  const Lengths odd = {0, 1, 7};
  EXPECT_EQ(*BlockPartition1D::even(7, 3), *BlockPartition1D::at_bounds(7, even));
  EXPECT_EQ(*BlockPartition1D::by_size(10, 4), *BlockPartition1D::at_bounds(10, sized));
  EXPECT_EQ(*BlockPartition1D::by_size(12, 4), *BlockPartition1D::even(12, 3));
  EXPECT_EQ(*BlockPartition1D::by_size(5, 3), *BlockPartition1D::even(5, 2));
  EXPECT_EQ(*BlockPartition1D::at_bounds(9, odd), *BlockPartition1D::at_bounds(9, odd));
  EXPECT_NE(*BlockPartition1D::at_bounds(9, odd), *BlockPartition1D::even(9, 3));
  EXPECT_NE(*BlockPartition1D::even(9, 3), *BlockPartition1D::even(9, 4));
  EXPECT_FALSE(BlockPartition1D::at_bounds(10, sized)->is_irregular());
  EXPECT_TRUE(BlockPartition1D::at_bounds(9, odd)->is_irregular());
}

TEST(BlockPartition1D, LongAxesAreExact) {
  const std::int64_t extent = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t parts : {std::int64_t{1}, std::int64_t{3}, std::int64_t{1} << 40}) {
    const BlockPartition1D even = *BlockPartition1D::even(extent, parts);
    EXPECT_EQ(even.hi(parts - 1), extent);
    EXPECT_EQ(even.find(extent - 1).block, parts - 1);
    EXPECT_EQ(even.find(even.lo(parts - 1)), (BlockPartition1D::Position{parts - 1, 0}));
    const BlockPartition1D sized = *BlockPartition1D::by_size(extent, parts);
    EXPECT_EQ(sized.find(extent - 1).block, sized.blocks() - 1);
    EXPECT_EQ(sized.find(extent - 1).offset, extent - 1 - sized.lo(sized.blocks() - 1));
  }
}

TEST(BlockPartition1D, BoundsNearTheLargestNumberAreKept) {
  const std::int64_t extent = std::numeric_limits<std::int64_t>::max();
  const std::int64_t half = std::int64_t{1} << 62;
  const BlockPartition1D partition =
      *BlockPartition1D::at_bounds(extent, Lengths{0, half, half + 1});
  EXPECT_TRUE(partition.is_irregular());
  EXPECT_EQ(partition.lo(2), half + 1);
  EXPECT_EQ(partition.hi(2), extent);
  EXPECT_EQ(partition.find(half), (BlockPartition1D::Position{1, 0}));
}

TEST(BlockPartition1D, BadArgumentsAreNamed) {
  const auto message = [](std::int64_t extent, const Lengths& starts) {
    const rma::Status status = BlockPartition1D::at_bounds(extent, starts).status();
    EXPECT_EQ(status.code(), rma::Code::invalid_argument);
    return status.message();
  };
  EXPECT_EQ(message(10, {0, 4, 4}),
            "bounds must increase strictly, but bounds[1] is 4 and bounds[2] is 4");
  EXPECT_EQ(message(10, {1, 4}), "bounds[0] is 1, but the first block must begin at 0");
  EXPECT_NE(message(10, {0, 10}).find("leave out the end"), std::string::npos);
  EXPECT_NE(message(10, {}).find("no bounds"), std::string::npos);
  EXPECT_EQ(BlockPartition1D::even(-1, 2).status().message(), "extent -1 is negative");
  EXPECT_EQ(BlockPartition1D::even(5, 0).status().code(), rma::Code::invalid_argument);
  EXPECT_EQ(BlockPartition1D::by_size(5, 0).status().message(), "block size 0 is below 1");
}

TEST(FastDivider, AgreesWithTheMachine) {
  const unsigned seed = std::random_device{}();
  RecordProperty("seed", std::to_string(seed));
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < 200000; ++i) {
    const auto n = static_cast<std::int64_t>(random() >> (1 + random() % 63));
    const auto d =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(random() >> (1 + random() % 63)));
    for (const std::int64_t number :
         {n, n / d * d, largest, largest / d * d, largest / d * d - 1}) {
      const FastDivider::Parts parts = FastDivider(d).divide(number);
      ASSERT_EQ(parts.quotient, number / d) << number << " / " << d;
      ASSERT_EQ(parts.remainder, number % d) << number << " / " << d;
    }
  }
}

}  // namespace
}  // namespace tessera::arrays
