// SPDX-License-Identifier: BSD-3-Clause
//
// Mapping: page-aligned memory for buffers of baselines, allocated and touched.
#pragma once

#include <cstddef>
#include <span>

namespace tessera::bench {

enum class Sharing {
  own,     ///< private anonymous memory, as a user's local buffers
  shared,  ///< a memfd mapped MAP_SHARED, as the ranks of a node share memory
};

class Mapping {
 public:
  /// Throws std::system_error if there is no memory. The memory begins `offset_bytes` after the
  /// start of a page, less than a page.
  Mapping(std::size_t bytes, Sharing sharing, std::size_t offset_bytes = 0);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> mapped_;
  std::span<std::byte> bytes_;
};

/// The offset of `address` in its cache line. Local buffers have the same offset as remote ones. On
/// some processors the C library's memcpy takes 25 times as long if the target lies a few bytes
/// further from a page's start than the source (measured on an AMD EPYC 9004 for 4 KiB and more).
/// Open MPI's windows begin 8 bytes after a page's start.
std::size_t line_offset(const void* address);

}  // namespace tessera::bench
