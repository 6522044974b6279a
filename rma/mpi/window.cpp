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

// A communicator takes a number of MPI's as a window does, and reports when none is left.
Status check_limit(const World& world, MPI_Comm communicator) {
  if (!world.library().window_limit_is_fatal) {
    return {};
  }
  MPI_Comm probe = MPI_COMM_NULL;
  if (MPI_Comm_dup(communicator, &probe) != MPI_SUCCESS) {
    return Status::error(Code::limit_exceeded,
                         "this MPI has 2048 windows and communicators at most, and all are in use")
        .hint("allocate fewer regions of more than 256 KiB: smaller ones share windows");
  }
  MPI_Comm_free(&probe);
  return {};
}

// MPICH puts the parts of a machine's ranks one behind the other, wherever the one before ends.
std::size_t whole_pages(std::size_t bytes) noexcept {
  constexpr std::size_t page = 4096;
  return (bytes + page - 1) / page * page;
}

}  // namespace

Result<std::unique_ptr<Window>> Window::allocate(std::shared_ptr<World> world,
                                                 MPI_Comm communicator, std::size_t bytes,
                                                 Discipline discipline) {
  const FloatingPointGuard guard;
  const auto turn = world->enter();
  TESSERA_RETURN_IF_ERROR(check_limit(*world, communicator));
  const Hints hints;
  std::unique_ptr<Window> window(new Window(world, nullptr, discipline));
  void* memory = nullptr;
  const auto whole = static_cast<MPI_Aint>(whole_pages(bytes));
  TESSERA_RETURN_IF_ERROR(
      check("MPI_Win_allocate", MPI_Win_allocate(whole, byte_unit, hints.get(), communicator,
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
  TESSERA_RETURN_IF_ERROR(check_limit(*world, communicator));
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
  find_start();
  return is_lasting() ? check("MPI_Win_lock_all", MPI_Win_lock_all(MPI_MODE_NOCHECK, window_))
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

Status Window::lock(int lock_type, int target) const {
  epoch_.acquire();
  const Patience patience(*this, target);
  Status locked = check("MPI_Win_lock", MPI_Win_lock(lock_type, target, 0, window_));
  if (!locked.ok()) {
    epoch_.release();
  }
  return locked;
}

Status Window::unlock(int target) const {
  const Patience patience(*this, target);
  Status unlocked = check("MPI_Win_unlock", MPI_Win_unlock(target, window_));
  epoch_.release();
  return unlocked;
}

void Window::note_slow(int target) const noexcept {
  MPI_Group members = MPI_GROUP_NULL;
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Win_get_group(window_, &members);
  MPI_Comm_group(world_->windows(), &all);
  int rank = MPI_UNDEFINED;
  MPI_Group_translate_ranks(members, 1, &target, all, &rank);
  MPI_Group_free(&members);
  MPI_Group_free(&all);
  if (rank != MPI_UNDEFINED && rank != world_->rank().value) {
    world_->note_slow(WorldRank{rank});
  }
}

Status Window::free() {
  const FloatingPointGuard guard;
  const auto turn = world_->enter();
  const Status unlocked =
      is_lasting() ? check("MPI_Win_unlock_all", MPI_Win_unlock_all(window_)) : Status();
  const Status freed = check("MPI_Win_free", MPI_Win_free(&window_));
  return unlocked.ok() ? freed : unlocked;
}

Status Window::check_flush(const char* call, int code) {
  return check(call, code);
}

}  // namespace tessera::rma::mpi
