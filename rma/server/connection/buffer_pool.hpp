// SPDX-License-Identifier: BSD-3-Clause
//
// BufferPool: receive buffers of one size that many connections share. A connection holds one only
// while it contains bytes of an unfinished frame, so idle peers cost no buffer.
//
// Threads: one at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "rma/base/catch_bad_alloc.hpp"

namespace tessera::rma::server {

class BufferPool {
 public:
  /// Buffers have `bytes` bytes each. Keeps at most `max_kept` unused buffers.
  explicit BufferPool(std::size_t bytes, std::size_t max_kept = 64)
      : bytes_(bytes), max_kept_(max_kept) {
    free_.reserve(max_kept);
  }

  /// Returns a buffer whose contents are undefined, or an empty one if memory runs out.
  [[nodiscard]] std::vector<std::byte> take() noexcept {
    std::vector<std::byte> buffer;
    if (!free_.empty()) {
      buffer = std::move(free_.back());
      free_.pop_back();
    } else {
      buffer = detail::catch_bad_alloc([this] { return std::vector<std::byte>(bytes_); },
                                       [] { return std::vector<std::byte>(); });
      if (buffer.empty()) {
        return buffer;
      }
    }
    ++taken_;
    min_free_ = std::min(min_free_, free_.size());
    return buffer;
  }
  void give(std::vector<std::byte> buffer) noexcept {
    --taken_;
    if (free_.size() < max_kept_) {
      free_.push_back(std::move(buffer));  // has room: reserved
    }
  }

  /// Frees the buffers that were not needed since the last call, except one.
  void release_unused() noexcept {
    const std::size_t idle = std::min(min_free_, free_.empty() ? 0 : free_.size() - 1);
    free_.resize(free_.size() - idle);
    min_free_ = free_.size();
  }

  /// The number of buffers in use.
  [[nodiscard]] std::size_t taken() const noexcept { return taken_; }
  /// The number of unused buffers that are kept.
  [[nodiscard]] std::size_t kept() const noexcept { return free_.size(); }

 private:
  const std::size_t bytes_;
  const std::size_t max_kept_;
  std::vector<std::vector<std::byte>> free_;
  std::size_t taken_ = 0;
  std::size_t min_free_ = 0;  // the minimum since release_unused()
};

}  // namespace tessera::rma::server
