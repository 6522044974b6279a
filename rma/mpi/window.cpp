// SPDX-License-Identifier: BSD-3-Clause
#include "rma/mpi/window.hpp"

#include <utility>

#include "rma/floating_point_guard.hpp"
#include "rma/mpi/error.hpp"

namespace tessera::rma::mpi {
namespace {

// What windows are promised: no accumulates of one word that differ in order and type.
class Hints {
 public:
  Hints() {
    MPI_Info_create(&info_);
    MPI_Info_set(info_, "same_disp_unit", "true");
  }
  ~Hints() { MPI_Info_free(&info_); }
  Hints(const Hints&) = delete;
  Hints& operator=(const Hints&) = delete;
  [[nodiscard]] MPI_Info get() const noexcept { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

constexpr int byte_unit = 1;

}  // namespace

Result<std::unique_ptr<Window>> Window::allocate(std::shared_ptr<World> world,
                                                 MPI_Comm communicator, std::size_t bytes,
                                                 Discipline discipline) {
  const FloatingPointGuard guard;
  const auto turn = world->enter();
  const Hints hints;
  std::unique_ptr<Window> window(new Window(world, nullptr, discipline));
  void* memory = nullptr;
  TESSERA_RETURN_IF_ERROR(
      check("MPI_Win_allocate",
            MPI_Win_allocate(static_cast<MPI_Aint>(bytes), byte_unit, hints.get(), communicator,
                             static_cast<void*>(&memory), &window->window_)));
  window->memory_ = bytes == 0 ? nullptr : static_cast<std::byte*>(memory);
  // Both copy by the processor, in the origin or in the target; kernels would copy bytes.
  const Library& library = world->library();
  window->keeps_words_ = library.vendor != Vendor::other && !library.allocated_windows_break;
  TESSERA_RETURN_IF_ERROR(window->open());
  return window;
}

Result<std::unique_ptr<Window>> Window::expose(std::shared_ptr<World> world, MPI_Comm communicator,
                                               std::byte* memory, std::size_t bytes,
                                               Discipline discipline) {
  const FloatingPointGuard guard;
  const auto turn = world->enter();
  const Hints hints;
  std::unique_ptr<Window> window(new Window(world, bytes == 0 ? nullptr : memory, discipline));
  TESSERA_RETURN_IF_ERROR(check(
      "MPI_Win_create", MPI_Win_create(window->memory_, static_cast<MPI_Aint>(bytes), byte_unit,
                                       hints.get(), communicator, &window->window_)));
  window->has_atomics_ = !world->library().exposed_windows_break;
  TESSERA_RETURN_IF_ERROR(window->open());
  return window;
}

Status Window::open() {
  MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN);
  return is_lasting() ? check("MPI_Win_lock_all", MPI_Win_lock_all(MPI_MODE_NOCHECK, window_))
                      : Status();
}

Status Window::lock(int lock_type, int target) const {
  epoch_.acquire();
  Status locked = check("MPI_Win_lock", MPI_Win_lock(lock_type, target, 0, window_));
  if (!locked.ok()) {
    epoch_.release();
  }
  return locked;
}

Status Window::unlock(int target) const {
  Status unlocked = check("MPI_Win_unlock", MPI_Win_unlock(target, window_));
  epoch_.release();
  return unlocked;
}

Status Window::free() {
  const FloatingPointGuard guard;
  const auto turn = world_->enter();
  const Status unlocked =
      is_lasting() ? check("MPI_Win_unlock_all", MPI_Win_unlock_all(window_)) : Status();
  const Status freed = check("MPI_Win_free", MPI_Win_free(&window_));
  return unlocked.ok() ? freed : unlocked;
}

}  // namespace tessera::rma::mpi
