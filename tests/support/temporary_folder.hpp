// SPDX-License-Identifier: BSD-3-Clause
//
// A folder for the files of one test, which goes with them at its end; and files as strings.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "rma/job.hpp"

namespace tessera::test {

class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_((std::filesystem::temp_directory_path() / "tessera-test-XXXXXX").string()) {
    EXPECT_NE(::mkdtemp(path_.data()), nullptr) << path_;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  /// The names of what is in it, sorted.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  std::string path_;
};

/// A folder that rank 0 makes for all ranks of a job. Collective, the destructor too.
class SharedFolder {
 public:
  explicit SharedFolder(rma::Job& job) : job_(job) {
    if (job.rank().value == 0) {
      own_ = std::make_unique<TemporaryFolder>();
      own_->path().copy(path_, sizeof path_ - 1);
    }
    rma::require(job.world().broadcast_value(path_, rma::TeamRank{0}));
  }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;
  ~SharedFolder() { job_.world().barrier().ignore("the test has ended, well or not"); }

  [[nodiscard]] std::string path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path() + "/" + name; }
  /// The folder itself, on rank 0.
  [[nodiscard]] const TemporaryFolder& own() const { return *own_; }

 private:
  rma::Job& job_;
  std::unique_ptr<TemporaryFolder> own_;
  char path_[512] = {};
};

inline std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void write_contents(const std::string& path, const std::string& contents) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << contents;
  EXPECT_TRUE(file.flush().good()) << path;
}

}  // namespace tessera::test
