// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/detail/local_overlap.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

#include "arrays/box.hpp"
#include "tests/arrays/printers.hpp"

namespace tessera::arrays {
namespace {

// Checks each pair of elements.
bool are_apart(const Extents& extents, const Strides& strides) {
  std::set<std::int64_t> places;
  Index at = Index::zeros(extents.ndims());
  do {
    places.insert(distance(Index::zeros(extents.ndims()), at, strides));
  } while (advance(at, extents, MemoryOrder::row_major));
  return static_cast<std::int64_t>(places.size()) == volume(extents);
}

TEST(LocalOverlap, OfTwoDimensionsIsFoundExactly) {
  for (const Extents& extents : {Extents{2, 3}, Extents{4, 3}, Extents{1, 5}, Extents{5, 5}}) {
    for (std::int64_t first = -7; first <= 7; ++first) {
      for (std::int64_t second = -7; second <= 7; ++second) {
        const Strides strides{first, second};
        EXPECT_EQ(detail::check_apart(extents, strides).ok(), are_apart(extents, strides))
            << to_string(extents) << " with strides " << first << ", " << second;
      }
    }
  }
}

TEST(LocalOverlap, OfThreeDimensionsIsNeverFoundWrongly) {
  const Extents extents{2, 3, 3};
  for (std::int64_t first = -9; first <= 9; ++first) {
    for (std::int64_t second = 0; second <= 9; ++second) {
      for (std::int64_t third = 0; third <= 4; ++third) {
        const Strides strides{first, second, third};
        if (are_apart(extents, strides)) {
          EXPECT_TRUE(detail::check_apart(extents, strides).ok())
              << first << ", " << second << ", " << third;
        }
      }
    }
  }
  EXPECT_FALSE(detail::check_apart({2, 2, 2}, {3, 2, 1}).ok()) << "8 elements in 7 places";
  EXPECT_FALSE(detail::check_apart({4, 3, 5}, {15, 4, 1}).ok()) << "rows overlap";
}

TEST(LocalOverlap, StridesMayBeAsLargeAsTheyLike) {
  constexpr std::int64_t huge = std::int64_t{1} << 62;
  EXPECT_TRUE(detail::check_apart({2, 2, 2}, {huge, -huge / 2, 1}).ok());
  EXPECT_TRUE(detail::check_apart({0, 3}, {0, 0}).ok()) << "nothing is written";
  EXPECT_TRUE(detail::check_apart({1, 1}, {0, 0}).ok());
}

}  // namespace
}  // namespace tessera::arrays
