// SPDX-License-Identifier: BSD-3-Clause
//
// Wrong files and their errors: location and reason, the same on all ranks.
#include <fmt/format.h>

#include <fstream>
#include <utility>

#include "tests/apps/spmv/matrix_texts.hpp"

namespace tessera::apps::spmv {
namespace {

using rma::Job;
using rma::test::on_ranks;
using tessera::test::SharedFolder;

struct Case {
  std::string contents;
  std::string error;  // the text after the file's name
};

void expect_errors(const std::vector<Case>& cases, bool deflated = false) {
  on_ranks([&](Job& job) {
    const SharedFolder folder(job);
    for (const Case& each : cases) {
      EXPECT_EQ(error_of(job, folder, each.contents, deflated), each.error) << each.contents;
    }
  });
}

std::string market(const std::string& kind, const std::string& rest) {
  return "%%MatrixMarket matrix " + kind + "\n" + rest;
}

const std::string general = "coordinate real general";

TEST(BadMarketFile, Heads) {
  expect_errors({
      {"", " the file ends where a matrix should follow"},
      {"%%MatrixMarket tensor coordinate real general\n",
       "1:16: 'tensor' is not one of: matrix, vector"},
      {"%%MatrixMarket vector coordinate real general\n",
       "1:16: the file contains a vector; only matrices are supported"},
      {market("sparse real general", ""), "1:23: 'sparse' is not one of: coordinate, array"},
      {market("coordinate float general", ""),
       "1:34: 'float' is not one of: real, integer, pattern, complex, double, unsigned-integer"},
      {market("coordinate real skew", ""),
       "1:39: 'skew' is not one of: general, symmetric, skew-symmetric, hermitian"},
      {market("coordinate real", "2 2 0\n"),
       "1: the first line must have five words, '%%MatrixMarket matrix coordinate|array FIELD "
       "SYMMETRY', not 4"},
      {market("coordinate real hermitian", ""), "1:39: a real matrix cannot be hermitian"},
      {market("array pattern general", ""),
       "1:37: an array file has values: it cannot be a pattern"},
      {market(general, "% only comments\n"),
       "2: the file ends where the line with the sizes should follow"},
      {market(general, "3 3\n"),
       "2: the line with the sizes must have 'rows columns entries', not 2 words"},
      {market(general, "3 x 3\n"), "2:3: 'x' is not a whole number"},
      {market(general, "3 -3 3\n"), "2:3: sizes must not be negative"},
      {market(general, "0 3 3\n"), "2: 3 entries are not possible in a matrix of 0 x 3"},
      {market(general, "%\n3 3 1000000000000\n1 1 1\n"),
       "3: announces more numbers than a file of this length can contain"},
      {market("array complex general", "1000000 1000000\n1 1\n"),
       "2: announces more numbers than a file of this length can contain"},
      {market("coordinate real symmetric", "3 4 1\n"),
       "2: a symmetric matrix must be square, not 3 x 4"},
      {market("array real general", "4000000000 4000000000\n"),
       "2: the number of elements does not fit into 64 bits"},
  });
}

TEST(BadMarketFile, Entries) {
  const std::vector<Case> cases = {
      {market(general, "3 3 2\n1 1 1\n0 1 1\n"),
       "4:1: row 0 is outside 1 to 3, the size in line 2"},
      {market(general, "3 3 2\n1 1 1\n1  4 1\n"),
       "4:4: column 4 is outside 1 to 3, the size in line 2"},
      {market(general, "3 3 2\n1 1 1\n1 99999999999999999999 1\n"),
       "4:3: '99999999999999999999' does not fit into 64 bits"},
      {market(general, "3 3 1\n1 1\n"), "3:4: the line ends where a value should follow"},
      {market(general, "3 3 1\n1\n"), "3:2: the line ends where a column should follow"},
      {market(general, "3 3 1\n1 1 1 1\n"), "3:7: '1' is an extra word on this line"},
      {market(general, "3 3 1\n1 1 one\n"), "3:5: 'one' is not a number"},
      {market(general, "3 3 1\n1 1 nan\n"), "3:5: 'nan' is not finite"},
      {market(general, "3 3 1\n1 1 -1e999\n"),
       "3:5: '-1e999' is too large for a double (at most 1.8e+308)"},
      {market("coordinate integer general", "3 3 1\n1 1 9007199254740993\n"),
       "3:5: a double cannot represent '9007199254740993' exactly; the nearest number is "
       "9007199254740992"},
      {market("coordinate unsigned-integer general", "3 3 1\n1 1 -3\n"),
       "3:5: '-3' is negative, but the first line says unsigned-integer"},
      {market(general, "3 3 1\n  1 1 2 % a note\n"), "3:9: '%' is an extra word on this line"},
      {market("coordinate integer general", "3 3 1\n1 1 1.5\n"),
       "3:5: '1.5' is not a whole number"},
      {market(general, "3 3 3\n1 1 1\n2 2 1\n"),
       "4: the file ends here with 2 entries, but line 2 says 3"},
      {market(general, "3 3 1\n1 1 1\n2 2 1\n"), "2: says 1 entries, but there are 2"},
      {market("coordinate real symmetric", "3 3 1\n1 2 1\n"),
       "3:1: entry (1, 2) is above the diagonal: for symmetric matrices files store the lower "
       "half"},
      {market("coordinate real skew-symmetric", "3 3 1\n2 2 1\n"),
       "3:1: entry (2, 2) is on the diagonal, where skew-symmetric matrices must have zeros"},
      {market(general, "3 3 1\n1 1 \x01\n"), "3:5: byte 0x01 is not text"},
      {market(general, "3 3 1\n1 1 1" + std::string(1100, ' ') + "\n"),
       "3: the line has more than 1024 characters"},
      {market("array real general", "2 2\n1\n2\n3\n"),
       "5: the file ends here with 3 entries, but line 2 says 4"},
      {market("array real general", "2 1\n1\n2\n3\n"),
       "5: the file has more than the 2 elements that line 2 announces"},
      {market("array real general", "2 1\n\n1\n \t\n2\n\n3\n"),
       "8: the file has more than the 2 elements that line 2 announces"},
      {market("array real general", "2 1\n1\n\nx\n"), "5:1: 'x' is not a number"},
      {market("array real general", "2 1\n1 2 3\n"),
       "3: the file has more than the 2 elements that line 2 announces"},
      {market("array real general", "2 2\n1 2\n% 3 4\n3 y\n"), "5:3: 'y' is not a number"},
      {market(general, "3 3 1\n1 1 1.5F+00\n"), "3:5: '1.5F+00' is not a number"},
  };
  expect_errors(cases);
  expect_errors(cases, true);
}

// The memory was planned for the head's number.
TEST(BadMarketFile, WithFarMoreEntriesThanAnnouncedIsNotReadToItsEnd) {
  std::string entries;
  for (int i = 0; i < 100'000; ++i) {
    entries += "1 1 1\n";
  }
  expect_errors({{market(general, "3 3 1\n" + entries + "nonsense\n"),
                  "2: says 1 entries, but there are over 10002"}});
}

// The first fault in the file is reported, whichever rank finds it.
TEST(BadMarketFile, TheFirstOfManyFaults) {
  std::string text = market(general, "9 9 2000\n");
  for (int i = 0; i < 2000; ++i) {
    text += i < 700 ? "1 1 1\n" : "1 10 1\n";
  }
  expect_errors({{text, "703:3: column 10 is outside 1 to 9, the size in line 2"}});
}

struct Boeing {
  std::string cards = columns({3, 1, 1, 1, 0});
  std::string type = "RUA";
  std::string sizes = columns({2, 2, 3, 0});
  std::string formats = fmt::format("{:<16}{:<16}{:<20}", "(3I3)", "(3I3)", "(3F6.1)");
  std::string rest = "  1  3  4\n  1  2  2\n   1.0   2.0   3.0\n";
  [[nodiscard]] std::string text() const {
    return fmt::format("title\n{}\n{:<14}{}\n{}\n{}", cards, type, sizes, formats, rest);
  }
};

TEST(BadBoeingFile, Heads) {
  expect_errors({
      {Boeing{.type = "RXA"}.text(),
       "3:1: 'RXA' is not a matrix type like RUA, PSA or CHA: the file is neither Matrix Market "
       "nor Harwell-Boeing"},
      {"one\ntwo\nthree\n",
       "3:1: 'thr' is not a matrix type like RUA, PSA or CHA: the file is neither Matrix Market "
       "nor Harwell-Boeing"},
      {Boeing{.type = "RUE"}.text(),
       "3:1: RUE is an elemental matrix; only assembled ones, whose type ends with A, are "
       "supported"},
      {Boeing{.type = "QUA"}.text(), "3:1: QUA has its values in another file"},
      {Boeing{.type = "RHA"}.text(), "3:1: a real matrix cannot be hermitian"},
      {Boeing{.cards = columns({3, 1, 1, 0, 0})}.text(),
       "2: announces no values, but the type is RUA"},
      {Boeing{.cards = columns({99, 1, 1, 1, 0})}.text(),
       "2:1: announces 99 lines in total, but 3 as the sum of its parts"},
      {Boeing{.type = "PUA"}.text(), "2: announces lines of values, but the type is PUA"},
      {Boeing{.formats = fmt::format("{:<16}{:<16}{:<20}", "(3I3)", "(3I3)", "(100P3F6.1)")}.text(),
       "4:33: '(100P3F6.1)' is not a format such as (16I5) or (1P3D24.15)"},
      {Boeing{.cards = columns({5, 1, 1, 1, 2}),
              .rest = "F\n  1  3  4\n  1  2  2\n   1.0   2.0   3.0\n   4.0\n"}
           .text(),
       "9: the file ends here, but line 2 announces 10 lines"},
      {Boeing{.rest = "  1  3  4\n  1  2  2\n   1.0   2.0   3.0\n\n   4.0\n"}.text(),
       "9: the section has more than the 3 lines that line 2 announces"},
      {Boeing{.cards = columns({3, 1, 2, 1, 0})}.text(),
       "2: announces 2 lines of row numbers; 3 numbers, 3 in each line, need 1"},
      {Boeing{.cards = columns({3, 1, 300'000'000'000, 300'000'000'000, 0}),
              .sizes = columns({2, 2, 900'000'000'000, 0})}
           .text(),
       "2: announces more numbers than a file of this length can contain"},
      {Boeing{.sizes = columns({2, 2, -3, 0})}.text(), "3:43: counts must not be negative"},
      {Boeing{.formats = "(3I3)           (3F6.1)         (3F6.1)"}.text(),
       "4:17: the format of row numbers is not for whole numbers"},
      {Boeing{.formats = "(8i)            (8i)            (8e)"}.text(),
       "4:1: '(8I)' has fields without a width, for numbers separated by blanks; these are not "
       "supported"},
      {Boeing{.formats = "(1X,(3I3))      (3I3)           (3F6.1)"}.text(),
       "4:1: '(1X,(3I3))' has columns before a group: its first line differs from the others"},
      {Boeing{.formats = "(3I3)           (3I3)"}.text(), "4:33: the format of values is missing"},
      {Boeing{.formats = "3I3             (3I3)           (3F6.1)"}.text(),
       "4:1: '3I3' is not a format such as (16I5) or (1P3D24.15)"},
      {"title\n",
       "1: the file ends where the second line of a Harwell-Boeing file (a Matrix Market file "
       "begins with %%MatrixMarket) should follow"},
  });
}

TEST(BadBoeingFile, Numbers) {
  const auto with = [](const std::string& rest) { return Boeing{.rest = rest}.text(); };
  expect_errors({
      {Boeing{}.text(), "ok"},
      {with("  2  3  4\n  1  2  2\n   1.0   2.0   3.0\n"),
       "5:1: the first pointer is 2; it must be 1"},
      {with("  1  4  3\n  1  2  2\n   1.0   2.0   3.0\n"),
       "5:7: pointer 3 follows 4: pointers must not decrease"},
      {with("  1  3  3\n  1  2  2\n   1.0   2.0   3.0\n"),
       "5:7: the last pointer is 3; it must be the number of entries plus one, 4"},
      {with("  1  5  4\n  1  2  2\n   1.0   2.0   3.0\n"), "5:4: pointer 5 is outside 1 to 4"},
      {with("  1  3  4\n  1  3  2\n   1.0   2.0   3.0\n"), "6:4: row 3 is outside 1 to 2"},
      {with("  1  3  4\n  1  2   \n   1.0   2.0   3.0\n"),
       "6:7: is blank where a whole number should be"},
      {with("  1  3  4\n  1  2  2\n   1.0   2.x   3.0\n"), "7:7: '   2.x' is not a number"},
      {with("  1  3  4\n  1  2  2\n   1.0   2.0\n"), "7:13: is blank where a number should be"},
      {with("  1  3  4\n  1  2  2\n"), "6: the file ends here, but line 2 announces 7 lines"},
      {Boeing{.type = "RSA", .rest = "  1  3  4\n  1  2  1\n   1.0   2.0   3.0\n"}.text(),
       "6:7: entry (1, 2) is above the diagonal: for symmetric matrices files store the lower "
       "half"},
  });
}

// Pointers are compared after all have been read; errors in them come first.
TEST(BadBoeingFile, PointersAreReportedBeforeTheDataAfterThem) {
  expect_errors({
      {Boeing{.rest = "  1  4  3\n  1  2  2\n   1.0   2.x   3.0\n"}.text(),
       "5:7: pointer 3 follows 4: pointers must not decrease"},
      {Boeing{.rest = "  1  4  3\n  1  9  2\n   1.0   2.0   3.0\n"}.text(),
       "5:7: pointer 3 follows 4: pointers must not decrease"},
      {Boeing{.rest = "  1  4  x\n  1  2  2\n   1.0   2.x   3.0\n"}.text(),
       "5:7: 'x' is not a whole number"},
  });
}

TEST(BadFile, WhatCannotBeOpened) {
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    EXPECT_EQ(MatrixFile::open(job, folder.file("none")).status().message(),
              folder.file("none") + ": No such file or directory");
    EXPECT_EQ(MatrixFile::open(job, folder.path()).status().message(),
              folder.path() + ": is not a regular file");
  });
}

// A bad word before an error of zlib is the first fault, whichever rank has it.
TEST(BadFile, AFaultBeforeCorruptDeflatedData) {
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    const std::string path = folder.file("broken.gz");
    constexpr int entries = 60'000;
    constexpr int bad_entry = 50'000;
    std::string text = market(general, fmt::format("9 9 {}\n", entries));
    for (int i = 0; i < entries; ++i) {
      text +=
          i == bad_entry ? "1 x 1\n" : fmt::format("{} {} {}\n", i % 9 + 1, i % 7 + 1, i * 0.37);
    }
    if (job.rank().value == 0) {
      write_deflated(path, text);
      std::string bytes = tessera::test::contents_of(path);
      bytes[bytes.size() - 6] ^= 0x55;  // of the checksum
      tessera::test::write_contents(path, bytes);
    }
    rma::require(job.world().barrier());
    EXPECT_EQ(read_all<double>(job, path).status().message(),
              fmt::format("{}:{}:3: 'x' is not a whole number", path, bad_entry + 3));
    rma::require(job.world().barrier());
  });
}

// Truncated or changed data, which zlib detects.
TEST(BadFile, CorruptDeflatedData) {
  on_ranks([](Job& job) {
    const SharedFolder folder(job);
    const std::string path = folder.file("broken.gz");
    std::string text = market(general, "9 9 60000\n");
    for (int i = 0; i < 60'000; ++i) {
      text += fmt::format("{} {} {}\n", i % 9 + 1, i % 7 + 1, i * 0.37);
    }
    for (const bool is_cut : {true, false}) {
      if (job.rank().value == 0) {
        write_deflated(path, text);
        std::string bytes = tessera::test::contents_of(path);
        is_cut ? bytes.resize(bytes.size() / 2)
               : static_cast<void>(bytes[bytes.size() / 2] ^= 0x55);
        tessera::test::write_contents(path, bytes);
      }
      rma::require(job.world().barrier());
      const std::string message = read_all<double>(job, path).status().message();
      EXPECT_NE(message.find(path), std::string::npos) << message;
      EXPECT_EQ(message.find("<fd:"), std::string::npos) << message;
      if (is_cut) {
        EXPECT_NE(message.find("the compressed data end too early"), std::string::npos) << message;
      }
      rma::require(job.world().barrier());
    }
  });
}

}  // namespace
}  // namespace tessera::apps::spmv
