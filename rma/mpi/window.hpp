// SPDX-License-Identifier: BSD-3-Clause
//
// Window: an MPI window, locked for shared access from its making to its end (MPI-3), or for each
// epoch (MPI-2).
//
// Targets are ranks of the communicator that it was made over; displacements are bytes.
//
// Threads: all functions but free() may be called from any thread.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <semaphore>
#include <string_view>

#include "rma/mpi/error.hpp"
#include "rma/mpi/world.hpp"
#include "rma/result.hpp"

namespace tessera::rma::mpi {

/// How a window is accessed.
enum class Discipline {
  lasting,  ///< by MPI_Win_lock_all, and flushes
  epochs    ///< by MPI_Win_lock and MPI_Win_unlock around each operation
};

class Window {
 public:
  /// Collective over `communicator`, which may be freed after it. Memory of MPI's own.
  /// Errors: no_memory, unsupported, unreachable; of this rank only.
  static Result<std::unique_ptr<Window>> allocate(std::shared_ptr<World> world,
                                                  MPI_Comm communicator, std::size_t bytes,
                                                  Discipline discipline);
  /// Collective. Makes memory remote that is there already; it outlives the window.
  static Result<std::unique_ptr<Window>> expose(std::shared_ptr<World> world, MPI_Comm communicator,
                                                std::byte* memory, std::size_t bytes,
                                                Discipline discipline);
  ~Window() = default;
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  /// Collective. Gives MPI's memory back. Requires: nothing is under way.
  Status free();

  [[nodiscard]] MPI_Win handle() const noexcept { return window_; }
  [[nodiscard]] World& world() const noexcept { return *world_; }
  /// This rank's part; null when it is empty.
  [[nodiscard]] std::byte* memory() const noexcept { return memory_; }

  [[nodiscard]] bool is_lasting() const noexcept { return discipline_ == Discipline::lasting; }
  /// Whether puts and gets copy aligned words of up to 8 bytes whole.
  [[nodiscard]] bool keeps_words() const noexcept { return keeps_words_; }

  /// Whether MPI's read-modify-writes work in it.
  [[nodiscard]] bool has_atomics() const noexcept { return has_atomics_; }

  // Of lasting windows.
  /// Returns when what this process did at `target` is complete there.
  [[nodiscard]] Status flush(int target) const {
    return check_flush("MPI_Win_flush", MPI_Win_flush(target, window_));
  }
  /// The same, complete here only.
  Status flush_local(int target) const {
    return check_flush("MPI_Win_flush_local", MPI_Win_flush_local(target, window_));
  }
  /// Makes this process's loads and stores meet what others did in the window.
  [[nodiscard]] Status synchronise() const {
    return check_flush("MPI_Win_sync", MPI_Win_sync(window_));
  }

  // Of windows by epochs. A process has one epoch at a time in a window: threads take turns.
  [[nodiscard]] Status lock(int lock_type, int target) const;
  [[nodiscard]] Status unlock(int target) const;

 private:
  Window(std::shared_ptr<World> world, std::byte* memory, Discipline discipline) noexcept
      : world_(std::move(world)), memory_(memory), discipline_(discipline) {}
  static Status check_flush(std::string_view call, int code) { return check(call, code); }
  Status open();

  std::shared_ptr<World> world_;
  std::byte* memory_;
  Discipline discipline_;
  MPI_Win window_ = MPI_WIN_NULL;
  bool keeps_words_ = false;
  bool has_atomics_ = true;
  mutable std::binary_semaphore epoch_{1};
};

}  // namespace tessera::rma::mpi
