// SPDX-License-Identifier: BSD-3-Clause
//
// Runs a fuzz target over files and over prefixes of each file, without libFuzzer.
//
// Usage: replay FOLDER…    exits with 1 if a folder has no files
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::vector<std::uint8_t> read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// For long inputs, which are mostly payload, every second or third prefix suffices. The thread
// sanitizer, which does not look for reads beyond the end, needs even fewer.
#ifdef __SANITIZE_THREAD__
constexpr std::size_t max_beginnings = 512;
#else
constexpr std::size_t max_beginnings = 8192;
#endif

int replay(const std::filesystem::path& folder) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::vector<std::uint8_t> input = read(entry.path());
    // A copy of exactly each size, so that a sanitizer detects reads beyond the end.
    const std::size_t step = 1 + input.size() / max_beginnings;
    for (std::size_t size = input.size() % step; size <= input.size(); size += step) {
      const std::vector<std::uint8_t> beginning(input.begin(),
                                                input.begin() + static_cast<std::ptrdiff_t>(size));
      LLVMFuzzerTestOneInput(beginning.data(), beginning.size());
    }
    ++files;
  }
  std::printf("%s: %d files\n", folder.c_str(), files);
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (replay(argv[i]) == 0) {
      return 1;
    }
  }
  return argc > 1 ? 0 : 1;
}
