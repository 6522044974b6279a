// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. What the variables of the Fortran module hold: cells, each of which holds a handle of
// the C interface.
//
// Fortran copies a variable's contents when it is assigned, passed out of a function or moved, and
// compilers differ in when they finalise such copies. So a cell remembers the address of the
// variable that it was made for, its owner: the end of that one frees what it has, and that of a
// copy does nothing. A cell whose handle was freed is used again for any later thing of the same
// job. Each use has an address of its own (used_address.hpp), so that an older copy is recognised
// as `closed`. Cells stay for as long as the process lives, since a copy may; a job that is started
// again on the same variable uses those of the former one.
//
// Threads: as handles.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "fortran/c_checkpoint.h"
#include "fortran/detail/call.hpp"
#include "fortran/detail/handles.hpp"
#include "rma/result.hpp"

namespace tessera::fapi {

using capi::Mark;

/// What gives a handle back.
using Free = int (*)(void*& handle);

/// What the address in a variable points to, with the number of its use: cell_at() gives the cell.
struct Cell;

inline constexpr std::size_t cell_bytes = 64;
using CellAddress = capi::UsedAddress<cell_bytes>;

struct Job;

struct alignas(cell_bytes) CellSlot {
  Mark kind = Mark::job;
  void* handle = nullptr;  ///< null after it was freed
  Free free = nullptr;
  const void* owner = nullptr;  ///< the variable that it was made for
  Job* job = nullptr;           ///< that it belongs to; a job's own
  std::size_t use = 0;          ///< how often it was used before
  CellSlot* next = nullptr;     ///< while it rests
  bool is_resting = false;
};
static_assert(sizeof(CellSlot) == cell_bytes);

/// A job keeps the cells of what was made with it.
struct Job : CellSlot {
  std::mutex mutex;  ///< of what follows
  std::vector<std::unique_ptr<CellSlot>> made;
  capi::RestingSlots<CellSlot> resting;
  const Cell* former = nullptr;  ///< of the same variable; what was made with it refers to it yet
};

/// The cell that the address in a variable belongs to; null if the variable is empty.
inline CellSlot* cell_at(const Cell* address) noexcept {
  return static_cast<CellSlot*>(CellAddress::slot_of(address));
}

/// Whether what the cell stands for is there.
inline bool is_open(const Cell* address) noexcept {
  const CellSlot* const cell = cell_at(address);
  return cell != nullptr && cell->handle != nullptr && cell->use == CellAddress::use_of(address) &&
         cell->job->handle != nullptr;
}
rma::Status explain_closed(const Cell* cell, Mark kind);

/// The module counts kinds from 0.
inline Mark mark_at(int kind) noexcept {
  return static_cast<Mark>(static_cast<std::uint64_t>(Mark::job) +
                           static_cast<std::uint64_t>(kind));
}

/// "tessera_array%sync", as errors name a procedure of a kind of variables.
class ProcedureName {
 public:
  ProcedureName(Mark kind, std::string_view procedure);
  /// Of the procedure that frees what the variable has.
  static ProcedureName of_free(Mark kind);
  [[nodiscard]] const char* text() const noexcept { return text_.data(); }

 private:
  std::array<char, 64> text_ = {};  // no allocation: it is of use where memory is short, too
};

/// Which kind a handle is. Those of files are known to the files that make them only.
template <class Handle>
inline constexpr Mark mark_of = capi::ShellType<Handle>::kind;
template <>
inline constexpr Mark mark_of<tessera_checkpoint_writer> = Mark::checkpoint_writer;
template <>
inline constexpr Mark mark_of<tessera_checkpoint> = Mark::checkpoint;

/// The handle in a variable. Errors: closed, invalid_argument for one that was not made.
template <class Handle>
rma::Result<Handle*> open(const Cell* cell) {
  if (!is_open(cell)) [[unlikely]] {
    return explain_closed(cell, mark_of<Handle>);
  }
  auto* const handle = static_cast<Handle*>(cell_at(cell)->handle);
  if constexpr (requires { typename capi::ShellType<Handle>; }) {
    TESSERA_RETURN_IF_ERROR(capi::check(handle));  // its maker may have freed it
  }
  return handle;
}
/// The array in a variable.
inline rma::Result<arrays::ArrayBase*> open_array(const Cell* cell) {
  TESSERA_ASSIGN_OR_RETURN(const tessera_array* const handle, open<tessera_array>(cell));
  return &capi::array_of(handle);
}

/// Errors: invalid_argument when the variable still has what was made for it.
rma::Status check_place(Cell* const* place);
/// Puts a new handle into a variable; it belongs to the job of `from`, which is null for a job.
/// Errors: no_memory.
int fill_place(const char* name, Cell** place, const CellSlot& contents, const Cell* from);

template <class Handle, int (*free)(Handle**)>
int free_as(void*& handle) {
  auto* const typed = static_cast<Handle*>(handle);
  Handle* place = typed;
  const int code = free(&place);
  handle = place;
  return code;
}

/// For a handle that goes on to belong to whoever made it.
inline int leave_to_owner(void*& handle) {
  handle = nullptr;
  return TESSERA_OK;
}

/// Does what needs Fortran's view of its arguments, prepare(), which returns a Status, and then
/// act(), which calls the C interface. The error of either is this thread's last one.
template <class Prepare, class Act>
int run(const char* name, const Prepare& prepare, const Act& act) noexcept {
  if (const int code = capi::call(name, prepare); code != TESSERA_OK) {
    return code;
  }
  return act();
}

/// The same for what puts something new into a variable: make_it(&handle) is of the C interface.
/// `from` is what it is made of, whose job is the new one's; prepare() has looked at it.
template <class Handle, int (*free)(Handle**), class Prepare, class Make>
int make(const char* name, Cell** place, const Cell* from, const Prepare& prepare,
         const Make& make_it) noexcept {
  const auto look = [&]() -> rma::Status {
    TESSERA_RETURN_IF_ERROR(check_place(place));
    return prepare();
  };
  return run(name, look, [&] {
    Handle* handle = nullptr;
    if (const int code = make_it(&handle); code != TESSERA_OK) {
      return code;
    }
    return fill_place(name, place,
                      {.kind = mark_of<Handle>, .handle = handle, .free = free_as<Handle, free>},
                      from);
  });
}

}  // namespace tessera::fapi

/// How C's linkage calls it.
using tessera_f_cell = tessera::fapi::Cell;
