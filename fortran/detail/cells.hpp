// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. The contents of the Fortran module's variables: cells, each of which holds a C handle.
//
// Fortran copies a variable's contents when it is assigned, returned from a function or moved.
// Compilers differ in when they finalise such copies. So a cell stores the address of its owner,
// the variable that it was made for. The end of the owner frees the handle; the end of a copy does
// nothing. A cell whose handle was freed is reused for any later object of the same job. Each use
// has a unique address (tagged_address.hpp), so that an older copy is recognised as `closed`. Cells
// are kept until the process ends, as copies may be. A job that is started again in the same
// variable reuses the cells of the former one.
//
// Threads: as for handles.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "fortran/c/checkpoint.h"
#include "fortran/c/output.h"
#include "fortran/detail/call.hpp"
#include "fortran/detail/handles.hpp"
#include "rma/base/result.hpp"

namespace tessera::fapi {

using capi::HandleKind;

/// The function that frees a handle.
using Free = int (*)(void*& handle);

/// An address in a variable: a cell and the number of its use, which cell_at() decodes.
struct Cell;

inline constexpr std::size_t cell_bytes = 64;
using CellAddress = capi::TaggedAddress<cell_bytes>;

struct Job;

struct alignas(cell_bytes) CellSlot {
  HandleKind kind = HandleKind::job;
  void* handle = nullptr;  ///< null after the object was freed
  Free free = nullptr;
  const void* owner = nullptr;  ///< the variable that it was made for
  Job* job = nullptr;           ///< the job of the object; a job's own cell
  std::size_t use = 0;          ///< how often the cell was used before
  CellSlot* next = nullptr;     ///< in the list of free cells
  bool is_resting = false;
};
static_assert(sizeof(CellSlot) == cell_bytes);

/// A job owns the cells of all objects made with it.
struct Job : CellSlot {
  std::mutex mutex;  ///< guards the members below
  std::vector<std::unique_ptr<CellSlot>> made;
  capi::FreeSlots<CellSlot> resting;
  const Cell* former =
      nullptr;  // the job before in the same variable; its objects still refer to it
};

/// The cell for an address in a variable; null if the variable is empty.
inline CellSlot* cell_at(const Cell* address) noexcept {
  return static_cast<CellSlot*>(CellAddress::slot_of(address));
}

/// Whether the cell's object exists.
inline bool is_open(const Cell* address) noexcept {
  const CellSlot* const cell = cell_at(address);
  return cell != nullptr && cell->handle != nullptr && cell->use == CellAddress::use_of(address) &&
         cell->job->handle != nullptr;
}
rma::Status explain_closed(const Cell* cell, HandleKind kind);

/// The mark of a kind, which the module counts from 0.
inline HandleKind kind_from_number(int kind) noexcept {
  return static_cast<HandleKind>(static_cast<std::uint64_t>(HandleKind::job) +
                                 static_cast<std::uint64_t>(kind));
}

/// The name of a procedure of a type in messages: "tessera_array%sync".
class ProcedureName {
 public:
  ProcedureName(HandleKind kind, std::string_view procedure);
  /// The name of the procedure that frees the variable's object.
  static ProcedureName of_free(HandleKind kind);
  [[nodiscard]] const char* text() const noexcept { return text_.data(); }

 private:
  std::array<char, 64> text_ = {};  // no allocation, because it is also needed if memory is short
};

/// The kind of a handle. Only the files that make handles of files know those.
template <class Handle>
inline constexpr HandleKind mark_of = capi::ShellType<Handle>::kind;
template <>
inline constexpr HandleKind mark_of<tessera_checkpoint_writer> = HandleKind::checkpoint_writer;
template <>
inline constexpr HandleKind mark_of<tessera_checkpoint> = HandleKind::checkpoint;
template <>
inline constexpr HandleKind mark_of<tessera_output> = HandleKind::output;

/// The handle in a variable. Errors: closed; invalid_argument if it was not created.
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

/// Errors: invalid_argument if the variable already has an object.
rma::Status check_empty(Cell* const* variable);
/// Puts a new handle into a variable; it belongs to the job of `from`, which is null for a job.
/// Errors: no_memory.
int store_handle(const char* name, Cell** variable, const CellSlot& contents, const Cell* from);

template <class Handle, int (*free)(Handle**)>
int free_as(void*& handle) {
  auto* const typed = static_cast<Handle*>(handle);
  Handle* variable = typed;
  const int code = free(&variable);
  handle = variable;
  return code;
}

/// Free function for a handle that continues to belong to its maker.
inline int keep_handle(void*& handle) {
  handle = nullptr;
  return TESSERA_OK;
}

/// Calls prepare(), which reads Fortran's arguments and returns a Status, and then act(), which
/// calls the C interface. The error of either becomes this thread's last one.
template <class Prepare, class Act>
int run(const char* name, const Prepare& prepare, const Act& act) noexcept {
  if (const int code = capi::call(name, prepare); code != TESSERA_OK) {
    return code;
  }
  return act();
}

/// The same for a function that puts a new object into a variable: make_it(&handle) is a call of
/// the C interface. `from` is the object that it is made from, and determines its job; prepare()
/// has checked it.
template <class Handle, int (*free)(Handle**), class Prepare, class Make>
int make(const char* name, Cell** variable, const Cell* from, const Prepare& prepare,
         const Make& make_it) noexcept {
  const auto check = [&]() -> rma::Status {
    TESSERA_RETURN_IF_ERROR(check_empty(variable));
    return prepare();
  };
  return run(name, check, [&] {
    Handle* handle = nullptr;
    if (const int code = make_it(&handle); code != TESSERA_OK) {
      return code;
    }
    return store_handle(name, variable,
                        {.kind = mark_of<Handle>, .handle = handle, .free = free_as<Handle, free>},
                        from);
  });
}

}  // namespace tessera::fapi

/// The name for C linkage.
using tessera_f_cell = tessera::fapi::Cell;
