// SPDX-License-Identifier: BSD-3-Clause
//
// Matrices of public collections, stored outside the project. Each is read by all ranks, and by a
// few lines of serial code that supports only its kind of file.
#include <zlib.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>

#include "tests/apps/spmv/matrix_texts.hpp"
#include "tests/support/checks.hpp"

namespace tessera::apps::spmv {
namespace {

using rma::Job;
using rma::test::on_ranks;
using Positions = std::map<std::pair<std::int64_t, std::int64_t>, double>;

std::string path_of(const std::string& name) {
  return std::string(MATRICES) + "/" + name;
}

bool has_matrix(const std::string& name) {
  return std::filesystem::exists(path_of(name));
}

std::string inflated(const std::string& path) {
  std::string text;
  gzFile file = gzopen(path.c_str(), "rb");
  std::vector<char> block(1 << 16);
  for (int got = 0; (got = gzread(file, block.data(), static_cast<unsigned>(block.size()))) > 0;) {
    text.append(block.data(), static_cast<std::size_t>(got));
  }
  gzclose(file);
  return text;
}

Positions market_by_stream(const std::string& path) {
  std::istringstream text(inflated(path));
  std::string line;
  std::getline(text, line);
  const bool is_symmetric = line.find("symmetric") != std::string::npos;
  do {
    std::getline(text, line);
  } while (line[0] == '%');
  Positions positions;
  std::int64_t row = 0;
  std::int64_t column = 0;
  for (double value = 0; text >> row >> column >> value;) {
    positions[{row - 1, column - 1}] += value;
    if (is_symmetric && row != column) {
      positions[{column - 1, row - 1}] += value;
    }
  }
  return positions;
}

struct Sizes {
  int pointers;
  int width;
  int value_width;
  bool is_symmetric;
};

// The three available ones have one width for pointers and one for rows, from `sizes`.
Positions boeing_by_columns(const std::string& path, int row_width, const Sizes& sizes) {
  std::istringstream text(inflated(path));
  std::string line;
  for (int i = 0; i < 4; ++i) {
    std::getline(text, line);
  }
  const auto read = [&](std::size_t count, int width, auto&& convert) {
    while (count > 0) {
      std::getline(text, line);
      // Lines may have blanks after the last field.
      const std::size_t end = line.find_last_not_of(" \r") + 1;
      for (std::size_t at = 0; at < end && count > 0;
           at += static_cast<std::size_t>(width), --count) {
        convert(line.substr(at, static_cast<std::size_t>(width)));
      }
    }
  };
  std::vector<std::int64_t> pointers;
  std::vector<std::int64_t> rows;
  std::vector<double> values;
  read(static_cast<std::size_t>(sizes.pointers), sizes.width,
       [&](const std::string& field) { pointers.push_back(std::stoll(field)); });
  const auto entries = static_cast<std::size_t>(pointers.back() - 1);
  read(entries, row_width, [&](const std::string& field) { rows.push_back(std::stoll(field)); });
  read(entries, sizes.value_width, [&](std::string field) {
    std::replace(field.begin(), field.end(), 'D', 'e');
    values.push_back(std::stod(field));
  });
  Positions positions;
  for (std::size_t column = 0; column + 1 < pointers.size(); ++column) {
    for (auto k = static_cast<std::size_t>(pointers[column] - 1);
         k < static_cast<std::size_t>(pointers[column + 1] - 1); ++k) {
      const std::pair position{rows[k] - 1, static_cast<std::int64_t>(column)};
      positions[position] += values[k];
      if (sizes.is_symmetric && position.first != position.second) {
        positions[{position.second, position.first}] += values[k];
      }
    }
  }
  return positions;
}

void expect_positions(const std::string& name, const Positions& expected) {
  on_ranks([&](Job& job) {
    const auto entries = read_all<double>(job, path_of(name)).value();
    ASSERT_EQ(entries.size(), expected.size()) << name;
    for (const auto& [row, column, value] : entries) {
      const auto it = expected.find({row, column});
      ASSERT_NE(it, expected.end()) << row << ' ' << column;
      ASSERT_EQ(value, it->second) << row << ' ' << column;
    }
  });
}

TEST(PublicMatrices, MatrixMarket) {
  for (const char* name : {"cryg2500.mtx", "bcsstk13.mtx.gz", "bcsstk28.mtx.gz"}) {
    if (!has_matrix(name)) {
      GTEST_SKIP() << "there is no " << path_of(name);
    }
    expect_positions(name, market_by_stream(path_of(name)));
  }
}

// Its rows and columns count from 2: the first invalid one comes after a million lines.
TEST(PublicMatrices, AnEntryOutsideIsFoundFarDownALongFile) {
  const std::string name = "fe2d_system.mtx.gz";
  if (!has_matrix(name)) {
    GTEST_SKIP() << "there is no " << path_of(name);
  }
  on_ranks([&](Job& job) {
    EXPECT_TRUE(rma::test::fails(read_all<double>(job, path_of(name)).status(),
                                 rma::Code::invalid_argument,
                                 {name + ":1397148:7: column 40582 is outside 1 to 40581"}));
  });
}

TEST(PublicMatrices, HarwellBoeing) {
  if (!has_matrix("arc130.rua")) {
    GTEST_SKIP() << "there is no " << path_of("arc130.rua");
  }
  expect_positions("arc130.rua", boeing_by_columns(path_of("arc130.rua"), 4, {131, 5, 24, false}));
  expect_positions("west0067.rua",
                   boeing_by_columns(path_of("west0067.rua"), 8, {68, 8, 20, false}));
  expect_positions("bcsstk01.rsa",
                   boeing_by_columns(path_of("bcsstk01.rsa"), 5, {49, 5, 20, true}));
}

}  // namespace
}  // namespace tessera::apps::spmv
