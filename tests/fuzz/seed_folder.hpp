// SPDX-License-Identifier: BSD-3-Clause
//
// Shared by the programs that write seeds.
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

/// A folder for seeds; created if it does not exist.
class SeedFolder {
 public:
  explicit SeedFolder(std::filesystem::path path) : path_(std::move(path)) {
    std::filesystem::create_directories(path_);
  }
  /// Writes a file: first the bytes `how`, which choose how the fuzzer uses the rest, then the
  /// bytes.
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

/// The main() of such a program: calls write_all(folder) for the folder in its argument.
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
