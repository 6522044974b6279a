// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/box.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "tests/arrays/printers.hpp"

namespace tessera::arrays {
namespace {

constexpr std::int64_t largest_index = std::numeric_limits<std::int64_t>::max();

TEST(Box, KnowsItsSizes) {
  constexpr Box box({0, 64}, {64, 256});
  static_assert(box.ndims() == 2 && box.volume() == std::int64_t{64} * 192 && !box.is_empty());
  EXPECT_EQ(box.extents(), (Extents{64, 192}));
  EXPECT_EQ(to_string(box), "[0,64) x [64,256)");
  EXPECT_EQ(Box::whole({3, 4}), Box({0, 0}, {3, 4}));
  EXPECT_EQ(Box::at({3, 4}), Box({3, 4}, {4, 5}));
  EXPECT_TRUE(Box::none(3).is_empty());
}

TEST(Box, ExtentsStopAtTheLargestNumber) {
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(Box({least}, {most}).extent(0), most);
  EXPECT_EQ(Box({-1}, {most}).extent(0), most);
  EXPECT_EQ(Box({most}, {least}).extent(0), 0);
}

TEST(Box, IsEmptyWhenOneDimensionIs) {
  const Box box({0, 5}, {4, 3});
  EXPECT_TRUE(box.is_empty());
  EXPECT_EQ(box.volume(), 0);
  EXPECT_EQ(box.extents(), (Extents{4, 0}));
  EXPECT_TRUE(Box({1, 1}, {2, 2}).contains(box));
}

TEST(Box, VolumesAreChecked) {
  std::int64_t elements = 0;
  EXPECT_FALSE(Box({0, 0}, {largest_index, 3}).checked_volume(elements));
  EXPECT_FALSE(
      Box({-5'000'000'000'000'000'000}, {5'000'000'000'000'000'000}).checked_volume(elements))
      << "a length beyond 63 bits";
  EXPECT_TRUE(Box({0, 0}, {1000, 3}).checked_volume(elements));
  EXPECT_EQ(elements, 3000);
}

// Every pair of intervals in 0 … 5, in two dimensions by pairing one dimension with a fixed other
// one.
TEST(Box, IntersectsAndContainsAsItsElementsDo) {
  for (std::int64_t a = 0; a < 36; ++a) {
    for (std::int64_t b = 0; b < 36; ++b) {
      const Box x({a / 6, 1}, {a % 6, 3});
      const Box y({b / 6, 0}, {b % 6, 2});
      const Box both = intersect(x, y);
      bool x_in_y = true;
      std::int64_t common = 0;
      for (std::int64_t i = 0; i < 6; ++i) {
        for (std::int64_t j = 0; j < 6; ++j) {
          const Index at = {i, j};
          EXPECT_EQ(both.contains(at), x.contains(at) && y.contains(at));
          x_in_y = x_in_y && (!x.contains(at) || y.contains(at));
          common += x.contains(at) && y.contains(at) ? 1 : 0;
        }
      }
      EXPECT_EQ(both.volume(), common);
      EXPECT_EQ(y.contains(x), x_in_y);
    }
  }
}

TEST(Box, ShiftsAndGrows) {
  const Box box({1, 2}, {3, 4});
  EXPECT_EQ(box.shifted({10, -2}), Box({11, 0}, {13, 2}));
  EXPECT_EQ(box.grown({1, 3}), Box({0, -1}, {4, 7}));
}

TEST(CheckInside, PassesWhatIsInside) {
  EXPECT_TRUE(check_inside(Box({0, 0}, {100, 100}), {100, 100}).ok());
  EXPECT_TRUE(check_inside(Box({100, 3}, {100, 3}), {100, 100}).ok());
  EXPECT_TRUE(check_inside(Index{99, 0}, {100, 100}).ok());
}

TEST(CheckInside, SaysWhereABoxExceedsAndWhatToDo) {
  const rma::Status status = check_inside(Box({0, 0}, {100, 101}), {100, 100});
  EXPECT_EQ(status.code(), rma::Code::out_of_range);
  EXPECT_EQ(status.message(),
            "box [0,100) x [0,101) lies outside the array 100 x 100: dimension 1 exceeds by 1\n"
            "  hint: bounds are half-open; the last index of dimension 1 is 99, so use 100 as its "
            "upper bound");
  EXPECT_EQ(check_inside(Box({-2, 0}, {1, 5}), {5, 5}).message(),
            "box [-2,1) x [0,5) lies outside the array 5 x 5: dimension 0 begins at -2");
  EXPECT_NE(check_inside(Box({-2, 0}, {1, 9}), {5, 5})
                .message()
                .find("dimension 0 begins at -2, dimension 1 exceeds by 4"),
            std::string::npos);
  EXPECT_NE(
      check_inside(Box({0}, {largest_index}), {5}).message().find("exceeds by 9223372036854775802"),
      std::string::npos);
}

TEST(CheckInside, TellsMistakesOfTheProgramFromRanges) {
  const rma::Status inverted = check_inside(Box({5, 0}, {3, 2}), {9, 9});
  EXPECT_EQ(inverted.code(), rma::Code::invalid_argument);
  EXPECT_EQ(inverted.message(),
            "box [5,3) x [0,2): the upper bound 3 of dimension 0 is below its lower bound 5");
  EXPECT_EQ(check_inside(Box({0}, {1}), {9, 9}).message(),
            "box [0,1) has 1 dimension, the array 9 x 9 has 2");
  EXPECT_EQ(check_inside(Box({0, 0}, {1}), {9, 9}).message(),
            "a box has 2 lower and 1 upper bounds");
  EXPECT_EQ(check_inside(Index{1, 2, 3}, {9, 9}).message(),
            "index (1, 2, 3) has 3 dimensions, the array 9 x 9 has 2");
}

TEST(Box, NineDimensionsKeepTheirCount) {
  constexpr Index nine{1, 1, 1, 1, 1, 1, 1, 1, 1};
  static_assert(Box::at(nine).ndims() == 9);
  static_assert(Box::at(nine).extents().ndims() == 9);
  EXPECT_EQ(check_inside(Box::at(nine), {4, 4}).code(), rma::Code::invalid_argument);
}

TEST(Box, AnEmptySideMakesTheVolumeZero) {
  constexpr std::int64_t huge = std::int64_t{1} << 40;
  static_assert(Box::whole({huge, huge, 0}).volume() == 0);
}

TEST(CheckInside, NamesTheIndexThatIsOutside) {
  const rma::Status status = check_inside(Index{3, 9}, {9, 9});
  EXPECT_EQ(status.code(), rma::Code::out_of_range);
  EXPECT_EQ(status.message(),
            "index (3, 9) lies outside the array 9 x 9: 9 is not in [0,9) of dimension 1");
}

}  // namespace
}  // namespace tessera::arrays
