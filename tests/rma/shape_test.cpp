// SPDX-License-Identifier: BSD-3-Clause
//
// Strided shapes: their checks, their normal form, and the walk over their runs.
#include "rma/shape.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "rma/kernels/walk.hpp"
#include "tests/support/random_shape.hpp"

namespace tessera::rma {
namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

void expect_refused(const CopyShape& shape, const std::string& message) {
  const Status status = shape.check();
  EXPECT_EQ(status.code(), Code::invalid_argument);
  EXPECT_EQ(status.message(), message);
}

TEST(CopyShape, AcceptsEightLevelsAndNamesTheNinth) {
  CopyShape shape = CopyShape::contiguous(8);
  for (int i = 0; i < max_stride_levels; ++i) {
    shape.repeat(2, 16 << i, 32 << i);
  }
  EXPECT_TRUE(shape.check().ok());
  shape.repeat(2, 8192, 16384);
  expect_refused(shape, "9 stride levels; at most 8 are possible");
  shape.levels = -1;
  expect_refused(shape, "-1 stride levels; at most 8 are possible");
}

TEST(CopyShape, RefusesANegativeCountAtAnyLevel) {
  expect_refused(CopyShape::rows(8, -3, 8, 16), "count -3 at stride level 0 is negative");
  expect_refused(CopyShape::rows(8, 4, 8, 16).repeat(2, 64, 64).repeat(-1, 8, 8),
                 "count -1 at stride level 2 is negative");
  // Also after a level that makes the transfer empty.
  expect_refused(CopyShape::rows(8, 0, 8, 16).repeat(-1, 8, 8),
                 "count -1 at stride level 1 is negative");
}

TEST(CopyShape, RefusesARunThatDoesNotFit63Bits) {
  expect_refused(CopyShape::contiguous(std::size_t{1} << 63),
                 "a run of 9223372036854775808 bytes does not fit 63 bits");
  EXPECT_TRUE(CopyShape::contiguous((std::size_t{1} << 63) - 1).check().ok());
}

TEST(CopyShape, RefusesASizeThatOverflows) {
  expect_refused(CopyShape::rows(8, most / 4, 0, 0),
                 "size or extent of the transfer overflows 63 bits at stride level 0 (count "
                 "2305843009213693951, strides 0 and 0)");
}

TEST(CopyShape, RefusesAnExtentThatOverflowsOnEitherSide) {
  expect_refused(CopyShape::rows(8, 3, most / 2, 16),
                 "size or extent of the transfer overflows 63 bits at stride level 0 (count 3, "
                 "strides 4611686018427387903 and 16)");
  expect_refused(CopyShape::rows(8, 2, 8, 16).repeat(3, 16, most / 2 - 4),
                 "size or extent of the transfer overflows 63 bits at stride level 1 (count 3, "
                 "strides 16 and 4611686018427387899)");
  // This holds downwards, too; the run itself lies above offset 0.
  EXPECT_TRUE(CopyShape::rows(8, 2, 8, 8 - most).check().ok());
  expect_refused(CopyShape::rows(8, 2, 8, 8 - most).repeat(2, 16, -2),
                 "size or extent of the transfer overflows 63 bits at stride level 1 (count 2, "
                 "strides 16 and -2)");
}

TEST(CopyShape, RefusesAnExtentThatIsTooLongThoughBothEndsFit) {
  const CopyShape shape = CopyShape::rows(8, 2, most / 2, 8).repeat(2, -most / 2 - 100, 16);
  EXPECT_EQ(shape.check().code(), Code::invalid_argument);
}

TEST(CopyShape, AnEmptyTransferHasNoRunsNoBytesAndNoExtent) {
  for (const CopyShape& shape :
       {CopyShape::rows(8, 0, 16, -16), CopyShape::rows(0, most, 16, 16).repeat(most, 5, 5),
        CopyShape::rows(8, most, most, 8).repeat(most, 5, 5).repeat(0, 1, 1)}) {
    ASSERT_TRUE(shape.check().ok()) << test::describe(shape);
    EXPECT_EQ(shape.runs(), 0);
    EXPECT_EQ(shape.total_bytes(), 0U);
    EXPECT_EQ(shape.normalised(), CopyShape::contiguous(0));
    EXPECT_EQ(shape.local_extent().lowest, 0);
    EXPECT_EQ(shape.local_extent().highest, 0);
    EXPECT_EQ(shape.remote_extent().lowest, 0);
    EXPECT_EQ(shape.remote_extent().highest, 0);
  }
}

TEST(CopyShape, NormalisesAtTheEdgeOfWhatCheckAccepts) {
  // Twice the stride exceeds 63 bits, although the second run still ends within 63 bits.
  const std::int64_t stride = most / 2 + 1;
  const CopyShape shape = CopyShape::rows(8, 2, stride, stride).repeat(2, 16, 16);
  ASSERT_TRUE(shape.check().ok());
  EXPECT_EQ(shape.normalised(), shape);
}

TEST(CopyShape, AcceptsAnythingThatMovesNothing) {
  EXPECT_TRUE(CopyShape().check().ok());
  EXPECT_TRUE(CopyShape::rows(8, 0, most, most).check().ok());
  EXPECT_TRUE(CopyShape::rows(0, 5, 16, most).check().ok());
}

TEST(CopyShape, CountsRunsAndBytes) {
  const CopyShape shape = CopyShape::rows(24, 5, 32, 48).repeat(7, 1000, -2000);
  EXPECT_EQ(shape.runs(), 35);
  EXPECT_EQ(shape.total_bytes(), 840U);
  EXPECT_EQ(CopyShape::contiguous(9).runs(), 1);
  EXPECT_EQ(CopyShape::rows(24, 0, 32, 48).total_bytes(), 0U);
}

TEST(CopyShape, MergesWhatIsDenseOnBothSides) {
  EXPECT_EQ(CopyShape::rows(16, 4, 16, 16).normalised(), CopyShape::contiguous(64));
  EXPECT_EQ(CopyShape::rows(16, 4, 16, 16).repeat(3, 64, 64).normalised(),
            CopyShape::contiguous(192));
  EXPECT_EQ(CopyShape::rows(16, 4, 16, 16).repeat(3, 64, 100).normalised(),
            CopyShape::rows(64, 3, 64, 100));
  EXPECT_EQ(CopyShape::rows(16, 4, 16, 32).repeat(3, 64, 128).normalised(),
            CopyShape::rows(16, 12, 16, 32));
}

TEST(CopyShape, KeepsLevelsThatAreDenseOnOneSideOnly) {
  const CopyShape packed = CopyShape::rows(16, 4, 16, 32).repeat(3, 64, 500);
  EXPECT_EQ(packed.normalised(), packed);
}

TEST(CopyShape, DropsLevelsOfCountOneWhateverTheirStrides) {
  EXPECT_EQ(CopyShape::rows(8, 1, -5, most).normalised(), CopyShape::contiguous(8));
  EXPECT_EQ(CopyShape::rows(8, 1, 3, 3).repeat(4, 8, 24).repeat(1, 0, 0).normalised(),
            CopyShape::rows(8, 4, 8, 24));
}

TEST(CopyShape, AnEmptyTransferBecomesZeroContiguousBytes) {
  EXPECT_EQ(CopyShape::rows(8, 4, 16, 16).repeat(0, 1, 1).normalised(), CopyShape::contiguous(0));
  EXPECT_EQ(CopyShape::rows(0, 4, 16, 16).normalised(), CopyShape::contiguous(0));
}

TEST(CopyShape, NormalisingKeepsTheEffectAndTheOrder) {
  std::mt19937_64 random = test::make_random();
  for (int round = 0; round < 3000; ++round) {
    const int levels = round % (max_stride_levels + 1);
    const auto run_bytes = static_cast<std::size_t>(test::random_in(random, 0, 12));
    const CopyShape shape = test::random_shape(random, levels, run_bytes, 1);
    const CopyShape merged = shape.normalised();
    ASSERT_EQ(test::bytes_of(merged), test::bytes_of(shape)) << test::describe(shape);
    ASSERT_LE(merged.levels, shape.levels) << test::describe(shape);
    ASSERT_EQ(merged.normalised(), merged) << test::describe(shape);
    ASSERT_EQ(merged.total_bytes(), shape.total_bytes()) << test::describe(shape);
  }
}

TEST(CopyShape, ExtentsAreThoseOfTheAccessedBytes) {
  std::mt19937_64 random = test::make_random();
  for (int round = 0; round < 3000; ++round) {
    const int levels = round % (max_stride_levels + 1);
    const auto run_bytes = static_cast<std::size_t>(test::random_in(random, 1, 12));
    const CopyShape shape = test::random_shape(random, levels, run_bytes, 1).normalised();
    const test::Bounds bounds = test::bounds_of(shape);
    ASSERT_EQ(shape.local_extent().lowest, bounds.local.lowest) << test::describe(shape);
    ASSERT_EQ(shape.local_extent().highest, bounds.local.highest) << test::describe(shape);
    ASSERT_EQ(shape.remote_extent().lowest, bounds.remote.lowest) << test::describe(shape);
    ASSERT_EQ(shape.remote_extent().highest, bounds.remote.highest) << test::describe(shape);
  }
}

TEST(Walk, VisitsEveryRunInOrder) {
  std::mt19937_64 random = test::make_random();
  for (int round = 0; round < 3000; ++round) {
    const int levels = round % (max_stride_levels + 1);
    const CopyShape shape = test::random_shape(random, levels, 8, 1);
    std::vector<test::Run> visited;
    kernels::for_each_run(shape, [&](std::int64_t local, std::int64_t remote) {
      visited.push_back({local, remote});
    });
    ASSERT_EQ(visited, test::runs_of(shape)) << test::describe(shape);
  }
}

TEST(Walk, VisitsNothingWhenRunsAreEmpty) {
  int visits = 0;
  const auto count = [&](std::int64_t, std::int64_t) { ++visits; };
  kernels::for_each_run(CopyShape(), count);
  kernels::for_each_run(CopyShape::rows(0, 4, 8, 8), count);
  kernels::for_each_line(CopyShape::rows(8, 4, 8, 8).repeat(0, 1, 1), count);
  EXPECT_EQ(visits, 0);
}

TEST(Walk, DoesNotOverflowAtTheEdgeOfWhatCheckAccepts) {
  // Twice the strides exceeds 63 bits; the second run is the farthest that the walk may compute.
  const CopyShape shape = CopyShape::rows(8, 1, 8, 8).repeat(2, most - 8, 8 - most);
  ASSERT_TRUE(shape.check().ok());
  std::vector<test::Run> visited;
  kernels::for_each_run(shape, [&](std::int64_t local, std::int64_t remote) {
    visited.push_back({local, remote});
  });
  EXPECT_EQ(visited, (std::vector<test::Run>{{0, 0}, {most - 8, 8 - most}}));
}

}  // namespace
}  // namespace tessera::rma
