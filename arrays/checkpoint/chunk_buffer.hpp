// SPDX-License-Identifier: BSD-3-Clause
//
// ChunkBuffer: memory for a chunk between two filters.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "rma/base/status.hpp"

namespace tessera::arrays::detail {

/// Memory for the bytes of a chunk. It grows if needed, and is used again for the next chunk.
class ChunkBuffer {
 public:
  /// Makes room for `bytes` bytes; the content is lost if it had less. Errors: no_memory.
  rma::Status reserve(std::size_t bytes) noexcept;
  [[nodiscard]] std::byte* data() const noexcept { return memory_.get(); }
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {memory_.get(), size_}; }
  [[nodiscard]] std::size_t room() const noexcept { return room_; }
  /// Requires: no more than the room.
  void set_size(std::size_t size) noexcept { size_ = size; }

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept;
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::size_t room_ = 0;
  std::size_t size_ = 0;
};

}  // namespace tessera::arrays::detail
