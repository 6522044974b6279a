// SPDX-License-Identifier: BSD-3-Clause
#include "bench/support/memory_watch.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace tessera::bench {
namespace {

std::int64_t own_bytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word == "RssAnon:") {
      std::int64_t kib = 0;
      status >> kib;
      return kib * 1024;
    }
  }
  return 0;
}

// The node's shared memory is an unnamed file that this process has open.
std::string find_node_file() {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const auto target = std::filesystem::read_symlink(entry.path(), error);
    if (target.string().starts_with("/memfd:tessera ")) {
      return entry.path().string();
    }
  }
  return "";
}

std::int64_t allocated_bytes(const std::string& file) {
  struct stat found {};
  // unit of st_blocks, whatever the file system's block size is
  constexpr std::int64_t block = 512;
  return !file.empty() && stat(file.c_str(), &found) == 0 ? found.st_blocks * block : 0;
}

}  // namespace

MemoryUse memory_in_use() {
  return {own_bytes(), allocated_bytes(find_node_file())};
}

MemoryUse MemoryWatch::stop() {
  is_over_.store(true);
  if (thread_.joinable()) {
    thread_.join();
  }
  return max_;
}

void MemoryWatch::look() {
  const std::string file = find_node_file();
  bool is_last = false;
  while (!is_last) {
    is_last = is_over_.load();
    max_.own = std::max(max_.own, own_bytes());
    max_.shared = std::max(max_.shared, allocated_bytes(file));
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
}

}  // namespace tessera::bench
