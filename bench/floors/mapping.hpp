// SPDX-License-Identifier: BSD-3-Clause
//
// Mapping: page-aligned memory for the floors' buffers, backed and touched.
#pragma once

#include <cstddef>
#include <span>

namespace tessera::bench {

enum class Sharing {
  own,     ///< private anonymous memory, as a user's local buffers are
  shared,  ///< a memfd mapped MAP_SHARED, as the ranks of a node share memory
};

class Mapping {
 public:
  /// Throws std::system_error when there is no memory.
  /// `offset_bytes` beyond the start of a page, less than a page.
  Mapping(std::size_t bytes, Sharing sharing, std::size_t offset_bytes = 0);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> mapped_;
  std::span<std::byte> bytes_;
};

/// How far `address` lies beyond the start of its cache line. Local buffers are laid like the
/// remote ones: on some processors the C library's memcpy takes 25 times as long when the target
/// lies a few bytes further beyond a page's start than the source (measured on an AMD EPYC 9004 for
/// 4 KiB and more), and Open MPI's windows begin 8 bytes after one.
std::size_t line_offset(const void* address);

}  // namespace tessera::bench
