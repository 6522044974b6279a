// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/mpi/window.hpp"

#include <utility>

#include "rma/base/floating_point_guard.hpp"
#include "rma/base/rounding.hpp"
#include "rma/transport/mpi/error.hpp"

namespace tessera::rma::mpi {
namespace {

// The use of a window, as hints for MPI.
class Hints {
 public:
  explicit Hints(AccessMode mode) {
    MPI_Info_create(&info_);
    MPI_Info_set(info_, "same_disp_unit", "true");
    if (mode == AccessMode::accumulate_only) {
      MPI_Info_set(info_, "accumulate_ordering", "none");
    }
  }
  ~Hints() { MPI_Info_free(&info_); }
  Hints(const Hints&) = delete;
  Hints& operator=(const Hints&) = delete;
  [[nodiscard]] MPI_Info get() const noexcept { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

constexpr int byte_unit = 1;

// Windows must not reach the limit themselves: this tries a communicator, which uses the same
// resource.
Status check_limit(const World& world, MPI_Comm communicator) {
  if (!world.library().window_limit_is_fatal) {
    return {};
  }
  MPI_Comm probe = MPI_COMM_NULL;
  if (MPI_Comm_dup(communicator, &probe) != MPI_SUCCESS) {
    return Status::error(Code::limit_exceeded,
                         "this MPI has at most 2048 windows and communicators, and all are in use")
        .hint("allocate fewer regions of more than 256 KiB: smaller ones share windows");
  }
  MPI_Comm_free(&probe);
  return {};
}

constexpr std::size_t cache_line = 64;

// The size to request so that each part can begin at a cache line. Open MPI's parts begin 8 bytes
// after one, which makes memcpy up to 25 times slower. MPICH places the parts of a machine's ranks
// one after another, at any alignment.
std::size_t with_room(std::size_t bytes) noexcept {
  constexpr std::size_t page = 4096;
  return bytes == 0 ? 0 : round_up(bytes + cache_line, page);
}

std::byte* next_line(std::byte* memory) noexcept {
  const auto beyond = reinterpret_cast<std::uintptr_t>(memory) % cache_line;
  return memory + (cache_line - beyond) % cache_line;
}

}  // namespace

Result<std::unique_ptr<Window>> Window::allocate(std::shared_ptr<World> world,
                                                 const WindowGroup& group, std::size_t bytes,
                                                 const WindowUse& use) {
  const FloatingPointGuard guard;
  const auto mpi_guard = world->lock_calls();
  TESSERA_RETURN_IF_ERROR(check_limit(*world, group.communicator));
  const Hints hints(use.access_mode);
  std::unique_ptr<Window> window(new Window(world, nullptr, use.epoch_mode));
  void* memory = nullptr;
  const auto whole = static_cast<MPI_Aint>(with_room(bytes));
  TESSERA_RETURN_IF_ERROR(
      check("MPI_Win_allocate", MPI_Win_allocate(whole, byte_unit, hints.get(), group.communicator,
                                                 static_cast<void*>(&memory), &window->window_)));
  window->memory_ = bytes == 0 ? nullptr : next_line(static_cast<std::byte*>(memory));
  // On one machine both copy by the processor, in the origin or in the target; kernels and devices
  // would copy bytes.
  const Library& library = world->library();
  window->copies_whole_words_ = library.vendor != Vendor::other && group.is_one_machine;
  window->needs_target_ = library.vendor != Vendor::open_mpi;
  TESSERA_RETURN_IF_ERROR(window->open());
  return window;
}

Result<std::unique_ptr<Window>> Window::expose(std::shared_ptr<World> world,
                                               const WindowGroup& group, std::byte* memory,
                                               std::size_t bytes, const WindowUse& use) {
  const FloatingPointGuard guard;
  const auto mpi_guard = world->lock_calls();
  TESSERA_RETURN_IF_ERROR(check_limit(*world, group.communicator));
  const Hints hints(use.access_mode);
  std::unique_ptr<Window> window(new Window(world, bytes == 0 ? nullptr : memory, use.epoch_mode));
  TESSERA_RETURN_IF_ERROR(check(
      "MPI_Win_create", MPI_Win_create(window->memory_, static_cast<MPI_Aint>(bytes), byte_unit,
                                       hints.get(), group.communicator, &window->window_)));
  window->needs_target_ = true;
  window->has_atomics_ = !(world->library().exposed_windows_break && group.is_one_machine);
  TESSERA_RETURN_IF_ERROR(window->open());
  return window;
}

Status Window::open() {
  MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN);
  find_start();
  find_model();
  return is_lock_all() ? check("MPI_Win_lock_all", MPI_Win_lock_all(MPI_MODE_NOCHECK, window_))
                       : Status();
}

// With UCX 1.13, MPICH before 4.0.3 rounds the address down (its change 6140).
void Window::find_start() {
  void* beginning = nullptr;
  int is_known = 0;
  MPI_Win_get_attr(window_, MPI_WIN_BASE, static_cast<void*>(&beginning), &is_known);
  if (is_known != 0 && beginning != nullptr && memory_ != nullptr) {
    start_ = static_cast<std::uint64_t>(memory_ - static_cast<std::byte*>(beginning));
  }
}

void Window::find_model() {
  int* model = nullptr;
  int is_known = 0;
  MPI_Win_get_attr(window_, MPI_WIN_MODEL, static_cast<void*>(&model), &is_known);
  is_unified_ = is_known != 0 && *model == MPI_WIN_UNIFIED;
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
  const auto mpi_guard = world_->lock_calls();
  const Status unlocked =
      is_lock_all() ? check("MPI_Win_unlock_all", MPI_Win_unlock_all(window_)) : Status();
  const Status freed = check("MPI_Win_free", MPI_Win_free(&window_));
  return unlocked.ok() ? freed : unlocked;
}

}  // namespace tessera::rma::mpi
