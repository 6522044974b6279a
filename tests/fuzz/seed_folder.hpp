// SPDX-License-Identifier: BSD-3-Clause
//
// What the programs that write seeds have in common.
#pragma once

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>

namespace tessera::rma::fuzz {

/// A folder into which seeds are written; made when it is not there.
class SeedFolder {
 public:
  explicit SeedFolder(std::filesystem::path path) : path_(std::move(path)) {
    std::filesystem::create_directories(path_);
  }
  /// A file of what tells the fuzzer how to use the bytes, and the bytes.
  void write(const std::string& name, std::initializer_list<int> how,
             std::span<const std::byte> bytes) {
    std::ofstream file(path_ / name, std::ios::binary);
    for (const int each : how) {
      file.put(static_cast<char>(each));
    }
    for (const std::byte each : bytes) {
      file.put(static_cast<char>(each));
    }
    failed_ = failed_ || !file.flush();
  }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  std::filesystem::path path_;
  bool failed_ = false;
};

/// The main() of such a program: calls write_all(folder) for the folder that its argument names.
template <class WriteAll>
int write_seeds(int argc, char** argv, const char* program, const WriteAll& write_all) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", program);
    return 2;
  }
  SeedFolder folder(argv[1]);
  write_all(folder);
  if (folder.failed()) {
    std::fprintf(stderr, "%s: cannot write into %s\n", program, argv[1]);
    return 1;
  }
  return 0;
}

}  // namespace tessera::rma::fuzz
