// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Copies of neighbouring elements of a vector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tessera::linalg::detail {

/// Copies `bytes` bytes of elements of type T. A single element is the most frequent case; its size
/// is known at compile time, so it takes a load and a store instead of a call.
template <class T>
void copy_run(void* to, const std::byte* from, std::uint64_t bytes) noexcept {
  if (bytes == sizeof(T)) {
    std::memcpy(to, from, sizeof(T));
  } else {
    std::memcpy(to, from, bytes);
  }
}

}  // namespace tessera::linalg::detail
