// SPDX-License-Identifier: BSD-3-Clause
//
// Small matrix files for tests, and reading all of them.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <complex>
#include <initializer_list>
#include <string>
#include <vector>

#include "apps/spmv/matrix_file.hpp"
#include "linalg/csr.hpp"
#include "linalg/sparse_builder.hpp"
#include "rma/job.hpp"
#include "tests/support/rank_main.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tessera::apps::spmv {

inline void write_deflated(const std::string& path, const std::string& contents) {
  gzFile file = gzopen(path.c_str(), "wb1");
  ASSERT_NE(file, nullptr) << path;
  EXPECT_EQ(gzwrite(file, contents.data(), static_cast<unsigned>(contents.size())),
            static_cast<int>(contents.size()));
  EXPECT_EQ(gzclose(file), Z_OK);
}

/// Collective. The entries of a file that all ranks read together, by rows; repeated entries are
/// summed.
template <class T>
rma::Result<std::vector<linalg::Triplet<T>>> read_all(rma::Job& job, const std::string& path) {
  TESSERA_ASSIGN_OR_RETURN(auto file, MatrixFile::open(job, path));
  TESSERA_ASSIGN_OR_RETURN(auto builder, linalg::SparseBuilder<T>::create(job, file.header().rows,
                                                                          file.header().columns));
  TESSERA_RETURN_IF_ERROR(
      file.template read<T>([&](std::int64_t row, std::int64_t column, T value) {
        rma::require(builder.add(row, column, value));
      }));
  TESSERA_ASSIGN_OR_RETURN(auto matrix, builder.assemble());
  TESSERA_ASSIGN_OR_RETURN(const auto whole, matrix.get(matrix.box()));
  TESSERA_RETURN_IF_ERROR(matrix.sync());
  return linalg::to_triplets(whole);
}

/// Collective. The error for a file with these contents, the same on all ranks; "ok" if it can be
/// read.
inline std::string error_of(rma::Job& job, const test::SharedFolder& folder,
                            const std::string& contents, bool deflated = false) {
  const std::string path = folder.file("bad.mtx");
  rma::require(job.world().barrier());
  if (job.rank().value == 0) {
    deflated ? write_deflated(path, contents) : test::write_contents(path, contents);
  }
  rma::require(job.world().barrier());
  std::string message = read_all<double>(job, path).status().message();
  const std::size_t at = message.find(path + ":");
  if (at != std::string::npos) {
    message = message.substr(0, at) + message.substr(at + path.size() + 1);
  }
  return message;
}

/// Collective. The entries of a file that rank 0 writes.
template <class T>
std::vector<linalg::Triplet<T>> entries_of(rma::Job& job, const test::SharedFolder& folder,
                                           const std::string& text, bool deflated = false) {
  const std::string path = folder.file("matrix");
  rma::require(job.world().barrier());
  if (job.rank().value == 0) {
    deflated ? write_deflated(path, text) : test::write_contents(path, text);
  }
  rma::require(job.world().barrier());
  return read_all<T>(job, path).value();
}

/// All ranks read a text: plain and compressed, with both kinds of line ends.
template <class T>
void expect_entries(const std::string& text, const std::vector<linalg::Triplet<T>>& expected) {
  rma::test::on_ranks([&](rma::Job& job) {
    const test::SharedFolder folder(job);
    EXPECT_EQ(entries_of<T>(job, folder, text), expected);
    EXPECT_EQ(entries_of<T>(job, folder, text, true), expected);
    std::string other_ends;
    for (const char c : text) {
      other_ends += c == '\n' ? "\r\n" : std::string(1, c);
    }
    EXPECT_EQ(entries_of<T>(job, folder, other_ends), expected);
    // Without an end of the last line.
    EXPECT_EQ(entries_of<T>(job, folder, text.substr(0, text.size() - 1)), expected);
  });
}

/// A Harwell-Boeing or Rutherford-Boeing file: a title, and the lines after it.
inline std::string boeing(const std::string& type, const std::string& sizes,
                          const std::string& cards, const std::string& formats,
                          const std::string& rest) {
  return fmt::format("{:<72}{:<8}\n{}\n{:<14}{}\n{}\n{}", "A matrix of a test", "KEY", cards, type,
                     sizes, formats, rest);
}

/// Numbers in fields of 14 columns.
inline std::string columns(std::initializer_list<std::int64_t> numbers) {
  std::string text;
  for (const std::int64_t number : numbers) {
    text += fmt::format("{:>14}", number);
  }
  return text;
}

}  // namespace tessera::apps::spmv
