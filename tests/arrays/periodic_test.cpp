// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/periodic.hpp"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "tests/arrays/printers.hpp"

namespace tessera::arrays {
namespace {

std::vector<PeriodicPiece> pieces_of(const Box& box, const Extents& extents,
                                     PeriodicDims periodic) {
  auto pieces = PeriodicPieces::split(box, extents, periodic);
  EXPECT_TRUE(pieces.ok()) << pieces.status().describe();
  std::vector<PeriodicPiece> list;
  for (const PeriodicPiece& piece : *pieces) {
    list.push_back(piece);
  }
  return list;
}

TEST(Periodic, ABoxInsideIsOnePiece) {
  const auto pieces = pieces_of(Box({1, 2}, {3, 4}), {5, 5}, PeriodicDims().set());
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0].inside, Box({1, 2}, {3, 4}));
  EXPECT_EQ(pieces[0].shift, (Index{0, 0}));
}

TEST(Periodic, ABoxBeyondTheEndWrapsAround) {
  const auto pieces = pieces_of(Box({8}, {13}), {10}, PeriodicDims().set());
  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_EQ(pieces[0].inside, Box({8}, {10}));
  EXPECT_EQ(pieces[1].inside, Box({0}, {3}));
  EXPECT_EQ(pieces[1].shift, Index{10});
}

// Every box of [-9,9) over small arrays: each of its elements is in exactly one piece, at the
// element that it corresponds to.
TEST(Periodic, PiecesCoverTheBoxOnce) {
  for (std::int64_t n = 1; n <= 4; ++n) {
    for (std::int64_t lo = -9; lo < 9; ++lo) {
      for (std::int64_t hi = lo; hi <= 9; ++hi) {
        const Box box({lo, 1}, {hi, 3});
        std::map<std::int64_t, int> seen;
        for (const PeriodicPiece& piece : pieces_of(box, {n, 4}, PeriodicDims(1))) {
          EXPECT_TRUE(is_inside(piece.inside, {n, 4}));
          EXPECT_EQ(piece.shift[0] % n, 0);
          const Box placed = piece.inside.shifted(piece.shift);
          EXPECT_EQ(placed.lo(1), 1);
          EXPECT_EQ(placed.hi(1), 3);
          for (std::int64_t i = placed.lo(0); i < placed.hi(0); ++i) {
            ++seen[i];
          }
        }
        EXPECT_EQ(seen.size(), static_cast<std::size_t>(hi - lo));
        for (const auto& [index, times] : seen) {
          EXPECT_TRUE(index >= lo && index < hi && times == 1) << index;
        }
      }
    }
  }
}

TEST(Periodic, CornersComeInRowMajorOrder) {
  const auto pieces = pieces_of(Box({-1, -1}, {1, 1}), {4, 5}, PeriodicDims().set());
  ASSERT_EQ(pieces.size(), 4U);
  EXPECT_EQ(pieces[0].inside, Box({3, 4}, {4, 5}));
  EXPECT_EQ(pieces[1].inside, Box({3, 0}, {4, 1}));
  EXPECT_EQ(pieces[2].inside, Box({0, 4}, {1, 5}));
  EXPECT_EQ(pieces[3].inside, Box({0, 0}, {1, 1}));
}

TEST(Periodic, OtherDimensionsMustStayInside) {
  const auto pieces = PeriodicPieces::split(Box({-1, 0}, {2, 6}), {4, 5}, PeriodicDims(1));
  EXPECT_EQ(pieces.status().code(), rma::Code::out_of_range);
  EXPECT_NE(pieces.status().message().find("wrapping box [-1,2) x [0,6)"), std::string::npos);
  EXPECT_NE(pieces.status().message().find("dimension 1 exceeds by 1"), std::string::npos);
  EXPECT_EQ(pieces.status().message().find("dimension 0"), std::string::npos);
}

TEST(Periodic, BadBoxesAreErrors) {
  const PeriodicDims all = PeriodicDims().set();
  EXPECT_EQ(PeriodicPieces::split(Box({3}, {1}), {4}, all).status().code(),
            rma::Code::invalid_argument);
  EXPECT_EQ(PeriodicPieces::split(Box({0}, {1}), {4, 4}, all).status().code(),
            rma::Code::invalid_argument);
  EXPECT_EQ(PeriodicPieces::split(Box({0}, {1}), {0}, all).status().code(),
            rma::Code::out_of_range);
  EXPECT_TRUE(pieces_of(Box({7}, {7}), {0}, all).empty());
}

}  // namespace
}  // namespace tessera::arrays
