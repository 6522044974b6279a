// SPDX-License-Identifier: BSD-3-Clause
//
// Window: an MPI window, locked for shared access during its lifetime (MPI-3), or for each epoch
// (MPI-2).
//
// Targets are ranks of its communicator; displacements are bytes.
//
// Threads: all functions except free() may be called from any thread.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <semaphore>
#include <string_view>

#include "rma/base/result.hpp"
#include "rma/transport/mpi/error.hpp"
#include "rma/transport/mpi/world.hpp"
#include "rma/transport/transport.hpp"

namespace tessera::rma::mpi {

/// How a window is accessed.
enum class EpochMode {
  lock_all,      ///< by MPI_Win_lock_all, and flushes
  per_operation  ///< by MPI_Win_lock and MPI_Win_unlock around each operation
};

/// The ranks of a window.
struct WindowGroup {
  MPI_Comm communicator = MPI_COMM_NULL;
  bool is_one_machine = true;  ///< all ranks of the communicator are on one machine
};

/// How a window is used.
struct WindowUse {
  EpochMode epoch_mode = EpochMode::lock_all;
  AccessMode access_mode = AccessMode::any;
};

class Window {
 public:
  /// Collective over the group, whose communicator may be freed afterwards. Allocates memory of
  /// MPI. Errors: no_memory, unsupported, unreachable; of this rank only.
  static Result<std::unique_ptr<Window>> allocate(std::shared_ptr<World> world,
                                                  const WindowGroup& group, std::size_t bytes,
                                                  const WindowUse& use);
  /// Collective. Makes existing memory accessible; it must outlive the window.
  static Result<std::unique_ptr<Window>> expose(std::shared_ptr<World> world,
                                                const WindowGroup& group, std::byte* memory,
                                                std::size_t bytes, const WindowUse& use);
  ~Window() = default;
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  /// Collective. Frees MPI's memory. Requires: nothing is under way.
  Status free();

  [[nodiscard]] MPI_Win handle() const noexcept { return window_; }
  [[nodiscard]] World& world() const noexcept { return *world_; }
  /// This rank's part; null if it is empty.
  [[nodiscard]] std::byte* memory() const noexcept { return memory_; }
  /// The displacement of the beginning of this rank's part: not 0 if MPI has moved the beginning.
  [[nodiscard]] std::uint64_t start() const noexcept { return start_; }
  /// The address of displacement 0 in this process; null if its part is empty.
  [[nodiscard]] std::byte* origin() const noexcept {
    return memory_ == nullptr ? nullptr : memory_ - start_;
  }

  [[nodiscard]] bool is_lock_all() const noexcept { return epoch_mode_ == EpochMode::lock_all; }
  /// Whether MPI keeps one copy of the window's memory, which local loads and stores also use.
  [[nodiscard]] bool is_unified() const noexcept { return is_unified_; }
  /// Whether puts and gets copy aligned words of up to 8 bytes whole.
  [[nodiscard]] bool keeps_words() const noexcept { return copies_whole_words_; }
  /// The same for gets alone. MPI copies by memcpy, and glibc's reads 2 bytes twice, as a word and
  /// as bytes, at two moments.
  [[nodiscard]] bool gets_whole_words(std::size_t bytes) const noexcept {
    return copies_whole_words_ && bytes != sizeof(std::uint16_t);
  }

  /// Whether the target's processor has to serve some of MPI's operations.
  [[nodiscard]] bool needs_target() const noexcept { return needs_target_; }
  /// Whether MPI's accumulates and read-modify-writes work in it, also on this rank itself.
  [[nodiscard]] bool has_atomics() const noexcept { return has_atomics_; }

  // For windows that stay locked.
  /// Returns when this process's operations on `target` are complete there.
  [[nodiscard]] Status flush(int target) const {
    return check_flush("MPI_Win_flush", MPI_Win_flush(target, window_));
  }
  /// The same, but complete locally only.
  Status flush_local(int target) const {
    return check_flush("MPI_Win_flush_local", MPI_Win_flush_local(target, window_));
  }
  /// Synchronises this process's loads and stores with other ranks' operations in the window.
  [[nodiscard]] Status synchronise() const {
    return check_flush("MPI_Win_sync", MPI_Win_sync(window_));
  }

  // For windows that are locked for each operation. A process has one epoch at a time in a window:
  // threads wait for each other.
  [[nodiscard]] Status lock(int lock_type, int target) const;
  [[nodiscard]] Status unlock(int target) const;

 private:
  Window(std::shared_ptr<World> world, std::byte* memory, EpochMode epoch_mode) noexcept
      : world_(std::move(world)), memory_(memory), epoch_mode_(epoch_mode) {}
  static Status check_flush(std::string_view call, int code) { return check(call, code); }
  Status open();
  void find_start();
  void find_model();

  std::shared_ptr<World> world_;
  std::byte* memory_;
  EpochMode epoch_mode_;
  MPI_Win window_ = MPI_WIN_NULL;
  std::uint64_t start_ = 0;
  bool is_unified_ = false;
  bool copies_whole_words_ = false;
  bool needs_target_ = false;
  bool has_atomics_ = true;
  mutable std::binary_semaphore epoch_{1};
};

}  // namespace tessera::rma::mpi
