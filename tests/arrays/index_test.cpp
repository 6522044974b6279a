// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/index.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tests/arrays/printers.hpp"

namespace tessera::arrays {
namespace {

constexpr std::int64_t largest_number = std::numeric_limits<std::int64_t>::max();

TEST(Index, IsAValueOfItsNumbers) {
  constexpr Index index = {3, -4, 5};
  static_assert(index.ndims() == 3 && index[1] == -4);
  EXPECT_EQ(Extents::from(index)[2], 5);
  EXPECT_EQ(Index::filled(2, 7), (Index{7, 7}));
  EXPECT_NE((Index{1, 0}), (Index{1}));
}

TEST(Index, PrintsForMessages) {
  EXPECT_EQ(to_string(Index{3, 4}), "(3, 4)");
  EXPECT_EQ(to_string(Extents{400, 20}), "400 x 20");
  EXPECT_EQ(to_string(Extents{}), "()");
}

TEST(Index, StridesAreDenseInEitherOrder) {
  static_assert(dense_strides({2, 3, 4}) == Strides{12, 4, 1});
  static_assert(dense_strides({2, 3, 4}, MemoryOrder::column_major) == Strides{1, 2, 6});
  static_assert(distance({1, 1}, {2, 3}, {10, 1}) == 12);
}

TEST(Index, ProductsAreChecked) {
  std::int64_t product = 0;
  EXPECT_TRUE(checked_product({1000, 1000, 1000}, product));
  EXPECT_EQ(product, 1000000000);
  EXPECT_TRUE(checked_product({largest_number}, product));
  EXPECT_EQ(product, largest_number);
  EXPECT_FALSE(checked_product({largest_number, 2}, product));
  EXPECT_TRUE(checked_product({largest_number, largest_number, 0}, product));
  EXPECT_EQ(product, 0);
}

TEST(Index, AZeroMakesTheProductZeroHoweverLargeTheOthers) {
  constexpr std::int64_t huge = std::int64_t{1} << 40;
  static_assert(volume({huge, huge, 0}) == 0);
  static_assert(volume({0, huge, huge}) == 0);
  static_assert(dense_strides({0, huge, huge}).ndims() == 3);
  static_assert(dense_strides({huge, huge, 0}, MemoryOrder::column_major).ndims() == 3);
}

TEST(Index, NineDimensionsKeepTheirCount) {
  constexpr Extents nine{1, 2, 3, 4, 5, 6, 7, 8, 9};
  static_assert(dense_strides(nine).ndims() == 9);
  static_assert(dense_strides(nine, MemoryOrder::column_major).ndims() == 9);
}

TEST(Extents, LegalOnesPass) {
  EXPECT_TRUE(check_extents({7}).ok());
  EXPECT_TRUE(check_extents({0, 5}).ok());
  EXPECT_TRUE(check_extents(Extents::filled(max_dims, 100)).ok());
}

TEST(Extents, BadOnesAreNamed) {
  EXPECT_EQ(check_extents({}).code(), rma::Code::invalid_argument);
  const rma::Status nine = check_extents({1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_EQ(nine.code(), rma::Code::invalid_argument);
  EXPECT_NE(nine.message().find("more than 8 dimensions"), std::string::npos);
  EXPECT_EQ(check_extents({4, -1}).message(), "extent -1 of dimension 1 is negative in 4 x -1");
  EXPECT_EQ(check_extents({largest_number, 2}).message(),
            "the number of elements of 9223372036854775807 x 2 does not fit 63 bits");
}

}  // namespace
}  // namespace tessera::arrays
