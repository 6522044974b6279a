// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/view.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <type_traits>
#include <vector>

#include "tests/arrays/printers.hpp"

namespace tessera::arrays {
namespace {

static_assert(std::is_trivially_copyable_v<LocalView<double>>);
static_assert(std::is_convertible_v<LocalView<int>, LocalView<const int>>);
static_assert(!std::is_convertible_v<LocalView<const int>, LocalView<int>>);

std::vector<int> counted(std::size_t size) {
  std::vector<int> values(size);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

TEST(LocalView, LastIndexIsFastest) {
  auto values = counted(24);
  const LocalView<int> view(values.data(), {2, 3, 4});
  EXPECT_EQ(view(1, 2, 3), 23);
  EXPECT_EQ(view(1, 0, 1), 13);
  EXPECT_EQ((view[{0, 1, 2}]), 6);
  EXPECT_EQ(view.size(), 24);
  EXPECT_EQ(view.extent(1), 3);
  EXPECT_EQ(view.stride(1), 4);
  view(0, 0, 0) = 99;
  EXPECT_EQ(values[0], 99);
}

TEST(LocalView, FirstIndexIsFastestInColumnMajorOrder) {
  auto values = counted(6);
  const LocalView<const int> view(values.data(), {2, 3}, MemoryOrder::column_major);
  EXPECT_EQ(view(1, 0), 1);
  EXPECT_EQ(view(0, 1), 2);
  EXPECT_TRUE(view.is_dense(MemoryOrder::column_major));
  EXPECT_FALSE(view.is_dense());
  EXPECT_TRUE(view.is_exhaustive());
}

TEST(LocalView, SubViewsKeepTheStrides) {
  auto values = counted(12);
  const LocalView<int> view(values.data(), {3, 4});
  const LocalView<int> sub = view.sub(Box({1, 1}, {3, 3}));
  EXPECT_EQ(sub.extents(), (Extents{2, 2}));
  EXPECT_EQ(sub(0, 0), 5);
  EXPECT_EQ(sub(1, 1), 10);
  EXPECT_FALSE(sub.is_exhaustive());
  EXPECT_TRUE(view.sub(Box({1, 0}, {3, 4})).is_dense());
  EXPECT_TRUE(view.sub(Box({1, 1}, {2, 4})).is_dense());
}

TEST(LocalView, KnowsWhetherItHasGaps) {
  int value = 0;
  EXPECT_TRUE(LocalView<int>(&value, {2, 3, 4}, Strides{3, 1, 6}).is_exhaustive());
  EXPECT_FALSE(LocalView<int>(&value, {2, 3, 4}, Strides{3, 1, 7}).is_exhaustive());
  EXPECT_FALSE(LocalView<int>(&value, {2, 3}, Strides{0, 1}).is_exhaustive());
  EXPECT_TRUE(LocalView<int>(&value, {1, 3}, Strides{77, 1}).is_exhaustive());
  EXPECT_TRUE(LocalView<int>(&value, {1, 3}, Strides{77, 1}).is_dense());
  EXPECT_TRUE(LocalView<int>(&value, {0, 3}, Strides{9, 9}).is_empty());
  EXPECT_TRUE(LocalView<int>(&value, {0, 3}, Strides{9, 9}).is_exhaustive());
}

TEST(LocalView, NegativeStridesWalkBackwards) {
  auto values = counted(5);
  const LocalView<int> view(values.data() + 4, {5}, Strides{-1});
  EXPECT_EQ(view(0), 4);
  EXPECT_EQ(view(4), 0);
}

TEST(GlobalView, IsIndexedByTheArraysIndices) {
  auto values = counted(12);
  const GlobalView<int> view(LocalView<int>(values.data(), {3, 4}), {100, 200});
  EXPECT_EQ(view(100, 200), 0);
  EXPECT_EQ(view(101, 202), 6);
  EXPECT_EQ((view[{102, 203}]), 11);
  EXPECT_EQ(view.box(), Box({100, 200}, {103, 204}));
}

}  // namespace
}  // namespace tessera::arrays
