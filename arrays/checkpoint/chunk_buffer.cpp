// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/checkpoint/chunk_buffer.hpp"

#include <new>

namespace tessera::arrays::detail {

using rma::Status;

namespace {

constexpr std::align_val_t buffer_alignment{64};

}  // namespace

void ChunkBuffer::Free::operator()(std::byte* memory) const noexcept {
  ::operator delete(memory, buffer_alignment);
}

Status ChunkBuffer::reserve(std::size_t bytes) noexcept {
  if (bytes > room_) {
    memory_.reset();
    room_ = 0;
    memory_.reset(static_cast<std::byte*>(::operator new(bytes, buffer_alignment, std::nothrow)));
    if (memory_ == nullptr) {
      return Status::no_memory("no memory for a chunk; write smaller chunks");
    }
    room_ = bytes;
  }
  return {};
}

}  // namespace tessera::arrays::detail
