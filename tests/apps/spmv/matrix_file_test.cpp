// SPDX-License-Identifier: BSD-3-Clause
//
// Matrix files of all kinds, read by any number of ranks, compared with their contents.
#include <fmt/format.h>

#include "tests/apps/spmv/matrix_texts.hpp"

namespace tessera::apps::spmv {
namespace {

using linalg::Triplet;
using rma::Job;
using rma::test::on_ranks;
using tessera::test::SharedFolder;
using Complex = std::complex<double>;
using Entries = std::vector<Triplet<double>>;
using ComplexEntries = std::vector<Triplet<Complex>>;

TEST(MatrixMarket, Coordinates) {
  expect_entries<double>(
      "%%MatrixMarket matrix coordinate real general\n% a comment\n%\n\n3 4 4\n"
      "1 1  1.5\n 3\t4 -2e-3  \n\n2 2 +7\n2 1 .5\n",
      Entries{{0, 0, 1.5}, {1, 0, 0.5}, {1, 1, 7}, {2, 3, -2e-3}});
}

TEST(MatrixMarket, WordsOfAnyCaseAndCommentsAmongEntries) {
  expect_entries<double>("%%matrixmarket MATRIX Coordinate Integer General\n2 2 1\n%\n2 1 -3\n",
                         Entries{{1, 0, -3}});
}

TEST(MatrixMarket, BlanksMayBeBetweenAllItems) {
  expect_entries<double>(
      "  \t%%MatrixMarket  matrix\tcoordinate real general \n  % a comment\n\t%another one\n \t\n"
      "   2    2\t2  \n\t1 1   1.5\n  % among entries\n  2\t1 2 \n %\n",
      Entries{{0, 0, 1.5}, {1, 0, 2}});
  // In an array the number of words before a line determines its elements, also on other ranks.
  expect_entries<double>(
      "%%MatrixMarket matrix array real general\n\t% 7\n 2 3\n  1 2\n \t% 8 9\n\t%\n 3\n\t4 5  6\n"
      "  % 7\n",
      {{0, 0, 1}, {0, 1, 3}, {0, 2, 5}, {1, 0, 2}, {1, 1, 4}, {1, 2, 6}});
}

TEST(MatrixMarket, HalvesAreCompleted) {
  expect_entries<double>("%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n1 1 4\n3 1 5\n",
                         Entries{{0, 0, 4}, {0, 2, 5}, {2, 0, 5}});
  expect_entries<double>("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 5\n",
                         Entries{{0, 1, -5}, {1, 0, 5}});
  expect_entries<Complex>(
      "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 3 0\n2 1 1 2\n",
      ComplexEntries{{0, 0, 3}, {0, 1, {1, -2}}, {1, 0, {1, 2}}});
}

TEST(MatrixMarket, PatternsAreOnes) {
  expect_entries<double>("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n",
                         Entries{{0, 0, 1}, {0, 1, 1}, {1, 0, 1}});
}

TEST(MatrixMarket, EntriesGivenTwiceAreSummed) {
  expect_entries<double>("%%MatrixMarket matrix coordinate real general\n1 1 2\n1 1 2\n1 1 3\n",
                         Entries{{0, 0, 5}});
}

TEST(MatrixMarket, Arrays) {
  expect_entries<double>("%%MatrixMarket matrix array real general\n2 2\n1\n0\n3\n4\n",
                         Entries{{0, 0, 1}, {0, 1, 3}, {1, 1, 4}});
  expect_entries<double>("%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n3\n",
                         Entries{{0, 0, 1}, {0, 1, 2}, {1, 0, 2}, {1, 1, 3}});
  expect_entries<double>(
      "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n",
      Entries{{0, 1, -1}, {0, 2, -2}, {1, 0, 1}, {1, 2, -3}, {2, 0, 2}, {2, 1, 3}});
  expect_entries<Complex>("%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n2 3\n4 0\n",
                          ComplexEntries{{0, 0, 1}, {0, 1, {2, -3}}, {1, 0, {2, 3}}, {1, 1, 4}});
}

TEST(MatrixMarket, ArraysMayHaveBlankLines) {
  expect_entries<double>(
      "%%MatrixMarket matrix array real general\n\n2 2\n\n1\n \t\n2\n\n\n3\n4\n\n",
      Entries{{0, 0, 1}, {0, 1, 3}, {1, 0, 2}, {1, 1, 4}});
}

// As fscanf() reads them.
TEST(MatrixMarket, ArraysMayHaveManyElementsALineAndComments) {
  expect_entries<double>(
      "%%MatrixMarket matrix array real general\n% 7\n2 3\n1 2\n% 8 9\n%\n 3\n\t4 5  6\n% 7\n",
      {{0, 0, 1}, {0, 1, 3}, {0, 2, 5}, {1, 0, 2}, {1, 1, 4}, {1, 2, 6}});
  expect_entries<Complex>("%%MatrixMarket matrix array complex general\n2 1\n1 2 3 4\n",
                          {{0, 0, Complex(1, 2)}, {1, 0, Complex(3, 4)}});
}

TEST(MatrixMarket, ExponentsOfFortran) {
  expect_entries<double>(
      "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1.5D+01\n1 2 2d0\n2 2 -3.E-1\n",
      {{0, 0, 15}, {0, 1, 2}, {1, 1, -0.3}});
}

TEST(MatrixMarket, DoubleIsReal) {
  expect_entries<double>("%%MatrixMarket matrix coordinate DOUBLE general\n1 1 1\n1 1 1.5\n",
                         {{0, 0, 1.5}});
}

TEST(MatrixMarket, ZerosOnTheDiagonalOfSkewSymmetricMatricesAreNoEntries) {
  expect_entries<double>(
      "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 3\n1 1 0\n2 1 1\n2 2 0.0\n",
      {{0, 1, -1}, {1, 0, 1}});
}

TEST(MatrixMarket, AByteOrderMarkIsPassedOver) {
  expect_entries<double>(
      "\xEF\xBB\xBF%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n",
      Entries{{0, 0, 2}});
}

TEST(MatrixMarket, WithoutEntries) {
  expect_entries<double>("%%MatrixMarket matrix coordinate real general\n3 2 0\n", Entries{});
  expect_entries<double>("%%MatrixMarket matrix coordinate real general\n0 0 0\n", Entries{});
}

// 3 x 3 with entries (1,1) (3,1) (2,2) (1,3) (3,3), by columns.
TEST(HarwellBoeing, RealValuesInFieldsOfTheirWidth) {
  expect_entries<double>(boeing("RUA", columns({3, 3, 5, 0}), columns({5, 1, 2, 2, 0}),
                                fmt::format("{:<16}{:<16}{:<20}", "(4I3)", "(3I4)", "(1P3D12.4)"),
                                "  1  3  4  6\n   1   3   2\n   1   3\n"
                                "  1.0000D+00 -2.5000D+00  3.0000D+00\n  4.0000E-01  5.0000+101\n"),
                         Entries{{0, 0, 1}, {0, 2, 0.4}, {1, 1, 3}, {2, 0, -2.5}, {2, 2, 5e101}});
}

TEST(HarwellBoeing, AdjacentFieldsAndImpliedPoints) {
  expect_entries<double>(boeing("rua", columns({2, 2, 3, 0}), columns({3, 1, 1, 1, 0}),
                                fmt::format("{:<16}{:<16}{:<20}", "(3i1)", "(10I1)", "(3F4.2)"),
                                "134\n122\n-125 1.53150\n"),
                         Entries{{0, 0, -1.25}, {1, 0, 1.5}, {1, 1, 31.5}});
}

TEST(HarwellBoeing, SymmetricPatternsComplexAndRightHandSides) {
  expect_entries<double>(
      boeing("PSA", columns({2, 2, 2, 0}), columns({2, 1, 1, 0, 0}),
             fmt::format("{:<16}{:<16}{:<20}", "(3I3)", "(3I3)", ""), "  1  3  3\n  1  2\n"),
      Entries{{0, 0, 1}, {0, 1, 1}, {1, 0, 1}});
  expect_entries<Complex>(boeing("CHA", columns({2, 2, 2, 0}), columns({4, 1, 1, 2, 0}),
                                 fmt::format("{:<16}{:<16}{:<20}", "(3I3)", "(3I3)", "(3F6.1)"),
                                 "  1  3  3\n  1  2\n   1.0   0.0   2.0\n   3.0\n"),
                          ComplexEntries{{0, 0, 1}, {0, 1, {2, -3}}, {1, 0, {2, 3}}});
  expect_entries<double>(
      boeing("RZA", columns({2, 2, 1, 0}), columns({4, 1, 1, 1, 1}),
             fmt::format("{:<16}{:<16}{:<20}{:<20}", "(3I3)", "(3I3)", "(3F6.1)", "(3F6.1)"),
             "F                          1             0\n  1  2  2\n  2\n   7.0\n   1.0   2.0\n"),
      Entries{{0, 1, -7}, {1, 0, 7}});
}

TEST(HarwellBoeing, RutherfordBoeingHasWholeValues) {
  expect_entries<double>(
      boeing("ira", columns({1, 3, 3, 0}), fmt::format("{:>14} {:>13} {:>13} {:>13}", 3, 1, 1, 1),
             fmt::format("{:<16}{:<16}{:<20}", "(4I3)", "(3I3)", "(3I5)"),
             "  1  2  3  4\n  1  1  1\n   10  -20   30\n"),
      Entries{{0, 0, 10}, {0, 1, -20}, {0, 2, 30}});
}

// Enough lines for several pieces on each rank, compressed or not; integers are summed exactly.
TEST(MatrixFiles, OfManyPieces) {
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    constexpr std::int64_t n = 40'000;
    std::string text =
        fmt::format("%%MatrixMarket matrix coordinate integer general\n{0} {0} {1}\n", n, 2 * n);
    for (std::int64_t i = 1; i <= n; ++i) {
      text += fmt::format("{} {} {}\n{} {} {}\n", i, i, i, n + 1 - i, i, 2 * i);
    }
    for (const bool deflated : {false, true}) {
      const auto entries = entries_of<double>(job, folder, text, deflated);
      ASSERT_EQ(entries.size(), std::size_t{2 * n});
      for (const auto& [row, column, value] : entries) {
        ASSERT_EQ(value, static_cast<double>(row == column ? row + 1 : 2 * (column + 1)));
        ASSERT_TRUE(row == column || row == n - 1 - column);
      }
    }
  });
}

// The blank lines before a line matter for its elements, also on other ranks.
TEST(MatrixFiles, ArraysWithBlankLinesOfManyPieces) {
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    constexpr std::int64_t n = 250;
    std::string text = fmt::format("%%MatrixMarket matrix array integer general\n{0} {0}\n", n);
    for (std::int64_t i = 1; i <= n * n; ++i) {
      text += fmt::format("{}{}\n", std::string(static_cast<std::size_t>(i % 3), '\n'), i);
    }
    for (const bool deflated : {false, true}) {
      const auto entries = entries_of<double>(job, folder, text, deflated);
      ASSERT_EQ(entries.size(), std::size_t{n * n});
      for (const auto& [row, column, value] : entries) {
        ASSERT_EQ(value, static_cast<double>(column * n + row + 1));
      }
    }
  });
}

}  // namespace
}  // namespace tessera::apps::spmv
