// SPDX-License-Identifier: BSD-3-Clause
//
// Matrix files as other programs write them: the last table of apps/spmv/README.md has a row
// for each test. Each layout is that program's; the numbers are made up.
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

void expect_error(const std::string& text, const std::string& expected) {
  on_ranks([&](Job& job) {
    const SharedFolder folder(job);
    EXPECT_EQ(error_of(job, folder, text), expected) << text;
  });
}

// SciPy writes a comment line even without a comment, and the lower half of symmetric matrices.
TEST(MatrixMarketOf, SciPy) {
  expect_entries<double>(
      "%%MatrixMarket matrix coordinate real symmetric\n%\n3 3 3\n1 1 2.0000000000000000e+00\n"
      "3 1 -1.2500000000000000e-103\n3 3 1.0000000000000000e+100\n",
      Entries{{0, 0, 2}, {0, 2, -1.25e-103}, {2, 0, -1.25e-103}, {2, 2, 1e100}});
  expect_entries<double>(
      "%%MatrixMarket matrix coordinate integer skew-symmetric\n%of a test\n2 2 1\n2 1 -5\n",
      Entries{{0, 1, 5}, {1, 0, -5}});
  expect_entries<double>("%%MatrixMarket matrix coordinate pattern general\n%\n2 3 2\n1 3\n2 1\n",
                         Entries{{0, 2, 1}, {1, 0, 1}});
  expect_entries<Complex>(
      "%%MatrixMarket matrix coordinate complex hermitian\n%\n2 2 2\n"
      "1 1 3.0000000000000000e+00 0.0000000000000000e+00\n"
      "2 1 1.0000000000000000e+00 -2.0000000000000000e+00\n",
      ComplexEntries{{0, 0, 3}, {0, 1, {1, 2}}, {1, 0, {1, -2}}});
  expect_entries<double>(
      "%%MatrixMarket matrix array real symmetric\n%\n2 2\n1.0000000000000000e+00\n"
      "2.0000000000000000e+00\n3.0000000000000000e+00\n",
      Entries{{0, 0, 1}, {0, 1, 2}, {1, 0, 2}, {1, 1, 3}});
}

// Only SciPy writes the field "unsigned-integer", with values of up to 64 bits.
TEST(MatrixMarketOf, SciPyWithUnsignedIntegers) {
  expect_entries<double>(
      "%%MatrixMarket matrix coordinate unsigned-integer general\n%\n2 2 3\n1 1 7\n"
      "2 1 18446744073709549568\n2 2 0\n",
      Entries{{0, 0, 7}, {1, 0, 0x1p64 - 2048}, {1, 1, 0}});
  expect_entries<double>("%%MatrixMarket matrix array unsigned-integer general\n%\n1 2\n3\n4\n",
                         Entries{{0, 0, 3}, {0, 1, 4}});
  expect_error(
      "%%MatrixMarket matrix coordinate unsigned-integer general\n%\n1 1 1\n"
      "1 1 18446744073709551615\n",
      "4:5: a double cannot represent '18446744073709551615' exactly; the nearest number is "
      "18446744073709551616");
}

// fast_matrix_market writes the fewest digits that give the value, "double" for "real", and also
// vectors.
TEST(MatrixMarketOf, FastMatrixMarket) {
  expect_entries<double>(
      "%%MatrixMarket matrix coordinate double general\n%\n2 2 3\n1 1 0.1\n1 2 1e+100\n2 2 "
      "5E-324\n",
      Entries{{0, 0, 0.1}, {0, 1, 1e100}, {1, 1, 5e-324}});
  expect_entries<Complex>("%%MatrixMarket matrix array complex general\n2 1\n1 -2.5\n0 1e-7\n",
                          ComplexEntries{{0, 0, {1, -2.5}}, {1, 0, {0, 1e-7}}});
  expect_error("%%MatrixMarket vector array real general\n2\n1\n2\n",
               "1:16: the file contains a vector; only matrices are supported");
  expect_error("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 inf\n",
               "3:5: 'inf' is not finite");
}

// MUMPS uses Fortran's list-directed output: every line begins with blanks, the first one too.
TEST(MatrixMarketOf, Mumps) {
  expect_entries<double>(
      " %%MatrixMarket matrix coordinate real symmetric\n           2           2                  "
      "  3\n"
      "           1           1   4.0000000000000000     \n"
      "           2           1  -1.2500000000000000E-103\n"
      "           2           2   5.0000000000000000E-002\n",
      Entries{{0, 0, 4}, {0, 1, -1.25e-103}, {1, 0, -1.25e-103}, {1, 1, 0.05}});
  expect_entries<double>(
      " %%MatrixMarket matrix coordinate pattern general\n           2           2           1\n"
      "           2           1\n",
      Entries{{1, 0, 1}});
  expect_entries<Complex>(
      " %%MatrixMarket matrix coordinate complex general\n           1           1           1\n"
      "           1           1   1.0000000000000000       -2.0000000000000000     \n",
      ComplexEntries{{0, 0, {1, -2}}});
  expect_entries<double>(
      " %%MatrixMarket matrix array real general\n           2           1\n   1.5000000000000000  "
      "   \n"
      "   2.0000000000000000     \n",
      Entries{{0, 0, 1.5}, {1, 0, 2}});
}

// PETSc writes no comments, and stores zeros.
TEST(MatrixMarketOf, Petsc) {
  expect_entries<double>(
      "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 4.\n1 2 0.\n2 2 1.25e-10\n",
      Entries{{0, 0, 4}, {0, 1, 0}, {1, 1, 1.25e-10}});
  expect_entries<Complex>(
      "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 0.5 -2e+20\n",
      ComplexEntries{{0, 0, {0.5, -2e20}}});
}

// mmwrite.m, by the format's authors, writes a date, and two blanks before positive numbers.
TEST(MatrixMarketOf, Matlab) {
  expect_entries<double>(
      "%%MatrixMarket matrix coordinate real skew-symmetric\n% Generated 29-Nov-2026\n2 2 1\n"
      "2 1  1.500000000000000e+00\n",
      Entries{{0, 1, -1.5}, {1, 0, 1.5}});
}

// GraphBLAS writes a comment that looks like the first line, and repeated entries.
TEST(MatrixMarketOf, GraphBlas) {
  expect_entries<double>(
      "%%MatrixMarket matrix coordinate real general\n%%GraphBLAS type double\n3 1 3\n1 1 1\n"
      "3 1 1\n3 1 2\n",
      Entries{{0, 0, 1}, {2, 0, 3}});
}

// Files of the Network Repository begin with one '%' only.
TEST(MatrixMarketOf, NetworkRepository) {
  expect_entries<double>("%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n",
                         Entries{{0, 1, 1}, {1, 0, 1}, {1, 2, 1}, {2, 1, 1}});
}

// hb_write() writes four counts on the second line, three formats, and an E before exponents of
// three digits.
TEST(HarwellBoeingOf, SciPy) {
  expect_entries<double>(boeing("RUA", columns({2, 2, 3, 0}), columns({3, 1, 1, 1}),
                                fmt::format("{:<16}{:<16}{:<20}", "(40I2)", "(40I2)", "(3E25.16)"),
                                " 1 3 4\n 1 2 2\n   1.0000000000000000E+00 -1.2500000000000000E-103"
                                "   3.0000000000000000E+00\n"),
                         Entries{{0, 0, 1}, {1, 0, -1.25e-103}, {1, 1, 3}});
  expect_entries<double>(boeing("IUA", columns({2, 2, 2, 0}), columns({3, 1, 1, 1}),
                                fmt::format("{:<16}{:<16}{:<20}", "(40I2)", "(40I2)", "(26I3)"),
                                " 1 2 3\n 2 1\n-12  7\n"),
                         Entries{{0, 1, 7}, {1, 0, -12}});
}

// s3dkq4m2 and similar files of the Matrix Market skip a column before several fields, have scale
// factors in groups, and name a format of right-hand sides although there are none.
TEST(HarwellBoeingOf, CylinderShells) {
  const std::string formats = fmt::format("{:<16}{:<16}{:<20}{:<20}", "(1X,8I9)", "(1X,8I9)",
                                          "(3(1P,E24.16))", "(3(1P,E24.16))");
  expect_entries<double>(
      boeing("RSA", columns({2, 2, 3, 0}), columns({3, 1, 1, 1, 0}), formats,
             "         1        3        4\n         1        2        2\n"
             "  4.0000000000000000E+00 -2.5000000000000000E-01  5.0000000000000000E+00\n"),
      Entries{{0, 0, 4}, {0, 1, -0.25}, {1, 0, -0.25}, {1, 1, 5}});
}

// Old files have small letters, D or no letter in exponents, and no blanks between fields.
TEST(HarwellBoeingOf, OldCollections) {
  expect_entries<double>(
      boeing("rua", columns({2, 2, 3, 0}), columns({3, 1, 1, 1, 0}),
             fmt::format("{:<16}{:<16}{:<20}", "(13i6)", "(16i5)", "(1p,3d12.5)"),
             "     1     3     4\n    1    2    2\n"
             " 1.00000D+00-2.50000d-01 1.25000-103\n"),
      Entries{{0, 0, 1}, {1, 0, -0.25}, {1, 1, 1.25e-103}});
}

// All right-hand sides come first, then all guesses, then all solutions.
TEST(HarwellBoeingOf, FilesWithGuessesAndSolutions) {
  const std::string matrix = "  1  2  3\n  1  2\n   1.0   2.0\n";
  const std::string formats =
      fmt::format("{:<16}{:<16}{:<20}{:<20}", "(3I3)", "(3I3)", "(2F6.1)", "(2F6.1)");
  const std::string kinds = "FGX                        1             0\n";
  expect_entries<double>(boeing("RUA", columns({2, 2, 2, 0}), columns({6, 1, 1, 1, 3}), formats,
                                kinds + matrix + "   1.0   1.0\n   0.0   0.0\n   1.0   0.5\n"),
                         Entries{{0, 0, 1}, {1, 1, 2}});
  // No format is needed for skipped parts.
  expect_entries<double>(
      boeing("RUA", columns({2, 2, 2, 0}), columns({4, 1, 1, 1, 1}),
             fmt::format("{:<16}{:<16}{:<20}", "(3I3)", "(3I3)", "(2F6.1)"),
             "F                          1             0\n" + matrix + "   1.0   1.0\n"),
      Entries{{0, 0, 1}, {1, 1, 2}});
}

// In the header, one blank precedes each number; the type may be integer.
TEST(HarwellBoeingOf, RutherfordBoeing) {
  const auto counts = [](std::initializer_list<int> numbers) {
    std::string text;
    for (const int number : numbers) {
      text += fmt::format(" {:>13}", number);
    }
    return text;
  };
  expect_entries<double>(
      boeing("psa", counts({2, 2, 2, 0}), counts({2, 1, 1, 0}),
             fmt::format("{:<16}{:<16}", "(26I3)", "(26I3)"), "  1  3  3\n  1  2\n"),
      Entries{{0, 0, 1}, {0, 1, 1}, {1, 0, 1}});
  expect_error(boeing("qua", counts({2, 2, 2, 0}), counts({2, 1, 1, 0}),
                      fmt::format("{:<16}{:<16}", "(26I3)", "(26I3)"), "  1  2  3\n  1  2\n"),
               "3:1: qua has its values in another file");
}

// Programs in C often separate the numbers of the header by one blank, instead of columns of 14.
TEST(HarwellBoeingOf, WritersWithoutColumns) {
  const std::string formats = fmt::format("{:<16}{:<16}{:<20}", "(3I3)", "(3I3)", "(3F6.1)");
  const std::string rest = "  1  3  4\n  1  2  2\n   1.0   2.0   3.0\n";
  for (const std::string sizes : {"2 2 3 0", "2 2 3"}) {
    for (const std::string cards : {"3 1 1 1 0", "3 1 1 1", "             3 1 1 1 0"}) {
      expect_entries<double>("title\n" + cards + "\nRUA " + sizes + "\n" + formats + "\n" + rest,
                             Entries{{0, 0, 1}, {1, 0, 2}, {1, 1, 3}});
    }
  }
}

// SVDLIBC's numbers have no columns either. Its formats have no widths, so the file is refused.
TEST(HarwellBoeingOf, Svdlibc) {
  expect_error(boeing("rra", columns({2, 2, 2, 0}), columns({3, 1, 1, 1, 0}),
                      "            (8i)            (8i)            (8e)            (8e)",
                      "1 2 3 \n1 2 \n2.3 3.8 \n"),
               "4:1: '(8I)' has fields without a width, for numbers separated by blanks; these "
               "are not supported");
}

}  // namespace
}  // namespace tessera::apps::spmv
