// SPDX-License-Identifier: BSD-3-Clause
//
// Bytes as a file in memory that has no name in any folder, for readers that take a path.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace tessera::rma::fuzz {

/// Used instead of assert(), which release builds leave out.
inline void must(bool holds) {
  if (!holds) {
    std::abort();
  }
}

class MemoryFile {
 public:
  MemoryFile(const std::uint8_t* data, std::size_t size) : file_(::memfd_create("bytes", 0)) {
    must(file_ >= 0 && ::write(file_, data, size) == static_cast<ssize_t>(size));
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(file_); }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

}  // namespace tessera::rma::fuzz
