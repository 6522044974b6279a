// SPDX-License-Identifier: BSD-3-Clause
//
// PageRange: whole pages of this process's memory, [begin, end).
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "rma/base/result.hpp"

namespace tessera::rma::verbs {

struct PageRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  [[nodiscard]] std::size_t bytes() const noexcept { return end - begin; }
  [[nodiscard]] void* address() const noexcept {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): ranges are computed with as numbers
    return reinterpret_cast<void*>(begin);
  }
  [[nodiscard]] bool contains(PageRange other) const noexcept {
    return begin <= other.begin && other.end <= end;
  }
  [[nodiscard]] bool overlaps(PageRange other) const noexcept {
    return begin < other.end && other.begin < end;
  }
  /// The smallest range that contains both.
  [[nodiscard]] PageRange united_with(PageRange other) const noexcept {
    return {std::min(begin, other.begin), std::max(end, other.end)};
  }
  bool operator==(const PageRange&) const = default;
};

/// The pages of `page_bytes`, a power of two, that contain `bytes` at `address`. Errors:
/// invalid_argument if there are no bytes, or if they go beyond the end of the address space.
inline Result<PageRange> whole_pages(const void* address, std::size_t bytes,
                                     std::size_t page_bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  if (bytes == 0 || bytes > std::numeric_limits<std::uintptr_t>::max() - page_bytes - first) {
    return Status::error(Code::invalid_argument,
                         bytes == 0 ? "0 bytes of memory cannot be registered"
                                    : "the memory to register ends beyond the address space");
  }
  return PageRange{first & ~(page_bytes - 1), (first + bytes + page_bytes - 1) & ~(page_bytes - 1)};
}

inline std::size_t page_bytes() noexcept {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace tessera::rma::verbs
