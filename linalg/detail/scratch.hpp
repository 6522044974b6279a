// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Scratch: memory for numbers that is not initialised.
//
// Large pieces are not returned to the system but kept for the thread's next operation, as BLAS
// libraries do. New memory costs a page fault for each page; in a virtual machine that returns free
// pages to its host, it costs many times that (docs/decisions/0025).
//
// Memory: a thread keeps no more than it used at the same time, until it ends or calls
// release_buffers(). Threads: each has its own memory; a Scratch stays with the thread that made
// it.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#include "rma/base/status.hpp"

namespace tessera::linalg::detail {

struct FreeAligned {
  std::align_val_t alignment = std::align_val_t{1};
  void operator()(void* memory) const noexcept;
};

/// A piece of memory and its size.
struct ScratchPiece {
  std::unique_ptr<void, FreeAligned> memory;
  std::size_t bytes = 0;
};

class Scratch {
 public:
  Scratch() = default;
  Scratch(Scratch&& other) noexcept : piece_(std::exchange(other.piece_, ScratchPiece())) {}
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch() { give_back(); }

  /// Makes the size at least `bytes`; the contents are lost. Errors: no_memory.
  rma::Status reserve(std::size_t bytes);
  [[nodiscard]] void* data() const noexcept { return piece_.memory.get(); }

 private:
  void give_back() noexcept;

  ScratchPiece piece_;
};

}  // namespace tessera::linalg::detail
