// SPDX-License-Identifier: BSD-3-Clause
//
// PackedBuffer: memory for a payload that waits to be unpacked. It is kept for the next payload
// without being cleared, and freed after a period without use.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace tessera::rma::server {

class PackedBuffer {
 public:
  /// Room for `bytes` bytes, with undefined contents. Previous contents are lost.
  [[nodiscard]] std::byte* take(std::size_t bytes) {
    is_used_ = true;
    if (bytes > bytes_) {
      memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
      bytes_ = bytes;
    }
    return memory_.get();
  }
  [[nodiscard]] std::byte* data() const noexcept { return memory_.get(); }

  /// Frees the memory if it was not used since the last call. Requires: no payload is in it.
  void release_unused() noexcept {
    if (!std::exchange(is_used_, false)) {
      memory_.reset();
      bytes_ = 0;
    }
  }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t bytes_ = 0;
  bool is_used_ = false;
};

}  // namespace tessera::rma::server
