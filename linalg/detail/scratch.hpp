// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Scratch: an uninitialised buffer for the duration of an operation.
//
// The destructor keeps buffers of 2 MiB and more for the thread's next operation, as BLAS libraries
// do: each page of new memory costs a page fault. In a virtual machine that returns free pages to
// its host, it costs many times that (docs/decisions/0025).
//
// Memory: buffers in use and kept ones together never exceed the thread's peak use. A thread frees
// the kept ones if it ends or calls release_buffers(). Threads: each has its own buffers; a Scratch
// is destroyed by the thread that created it.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#include "rma/base/status.hpp"

namespace tessera::linalg::detail {

/// Frees memory that `operator new` returned for this alignment, in bytes.
struct FreeAligned {
  std::align_val_t alignment = std::align_val_t{1};
  void operator()(void* memory) const noexcept;
};

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

  /// Ensures a size of at least `bytes`. A buffer that grows loses its contents. Errors: no_memory.
  rma::Status reserve(std::size_t bytes);
  [[nodiscard]] void* data() const noexcept { return piece_.memory.get(); }

 private:
  void give_back() noexcept;

  ScratchPiece piece_;
};

}  // namespace tessera::linalg::detail
