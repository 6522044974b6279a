// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/detail/cells.hpp"

#include <fmt/format.h>

namespace tessera::fapi {

using rma::Code;
using rma::Status;

namespace {

using capi::number_of;

/// The contents of an empty variable that is passed as an optional argument; an absent one is null.
constexpr CellSlot empty_variable;

/// The contents of a variable whose object was freed through it: freeing it again does nothing.
constexpr CellSlot freed_variable;

Cell* address_of(const CellSlot& cell) noexcept {
  return static_cast<Cell*>(CellAddress::pointer_to(&cell, cell.use));
}

/// The name of a type of the module, and of its procedures that free and make its objects.
struct TypeName {
  const char* type;
  const char* free = "free";
  const char* make = "create";
};

/// In the order of HandleKind.
constexpr std::array<TypeName, 17> type_names = {{{"tessera_job", "stop", "start"},
                                                  {"tessera_team"},
                                                  {"tessera_locks"},
                                                  {"tessera_counter"},
                                                  {"tessera_distribution"},
                                                  {"tessera_array"},
                                                  {"tessera_block", "end", "begin"},
                                                  {"tessera_halo"},
                                                  {"tessera_transfers"},
                                                  {"tessera_sparse"},
                                                  {"tessera_sparse_builder"},
                                                  {"tessera_sparse_rows", "end", "begin"},
                                                  {"tessera_spmv"},
                                                  {"tessera_checkpoint_writer"},
                                                  {"tessera_checkpoint", "free", "open"},
                                                  {"tessera_mirrored"},
                                                  {"tessera_output", "free", "open"}}};

static_assert(capi::mark_count == type_names.size());

const TypeName& type_name(HandleKind kind) {
  return type_names[number_of(kind)];
}

}  // namespace

ProcedureName::ProcedureName(HandleKind kind, std::string_view procedure) {
  *fmt::format_to_n(text_.begin(), text_.size() - 1, "{}%{}", type_name(kind).type, procedure).out =
      '\0';
}

ProcedureName ProcedureName::of_free(HandleKind kind) {
  return {kind, type_name(kind).free};
}

Status explain_closed(const Cell* address, HandleKind kind) {
  const CellSlot* const cell = cell_at(address);
  const char* const name = capi::name_of(kind);
  if (cell == nullptr || cell == &empty_variable) {
    return kind == HandleKind::job
               ? Status::error(Code::invalid_argument, "the job has not been started")
                     .hint("call job%start() first")
               : Status::error(Code::invalid_argument,
                               fmt::format("the {} in this call has not been created", name))
                     .hint(fmt::format("call {} first, or another procedure of {} that creates one",
                                       type_name(kind).make, type_name(kind).type));
  }
  if (cell->job != nullptr && cell->job->handle == nullptr) {
    return Status::error(Code::closed, kind == HandleKind::job
                                           ? std::string("the job was stopped")
                                           : fmt::format("the job of this {} was stopped", name));
  }
  return Status::error(Code::closed, fmt::format("the {} was freed", name))
      .hint("freeing one variable frees the object for all copies of the variable");
}

Status check_empty(Cell* const* variable) {
  if (is_open(*variable) && cell_at(*variable)->owner == variable) {
    return Status::error(Code::invalid_argument,
                         fmt::format("this variable already has its {}",
                                     capi::name_of(cell_at(*variable)->kind)))
        .hint("free it first, or check the order of the arguments");
  }
  return {};
}

namespace {

/// Makes a cell whose handle is gone available for reuse. Requires: its job's lock.
void release_slot(CellSlot& cell) noexcept {
  cell.handle = nullptr;
  if (!cell.is_resting && cell.use + 1 < CellAddress::max_uses) {
    cell.is_resting = true;
    cell.job->resting.push(cell);
  }
}

/// The job's cell in the variable, if that job was stopped and the cell can be reused; otherwise
/// null.
Job* stopped_job_of(Cell* const* variable) noexcept {
  CellSlot* const cell = cell_at(*variable);
  const bool is_own = cell != nullptr && cell->kind == HandleKind::job && cell->owner == variable &&
                      cell->use == CellAddress::use_of(*variable);
  return is_own && cell->use + 1 < CellAddress::max_uses ? cell->job : nullptr;
}

void fill_job(Cell** variable, const CellSlot& contents) {
  Job* job = stopped_job_of(variable);
  if (job != nullptr) {
    const std::lock_guard guard(job->mutex);
    for (const auto& cell : job->made) {
      release_slot(*cell);
    }
    job->handle = contents.handle;
    job->free = contents.free;
    ++job->use;
  } else {
    auto own = std::make_unique<Job>();
    static_cast<CellSlot&>(*own) = contents;
    own->owner = variable;
    own->job = own.get();
    own->former = *variable;
    job = own.release();
  }
  *variable = address_of(*job);
}

}  // namespace

int store_handle(const char* name, Cell** variable, const CellSlot& contents, const Cell* from) {
  return capi::call(name, [&]() -> Status {
    if (from == nullptr) {
      fill_job(variable, contents);
      return {};
    }
    Job& job = *cell_at(from)->job;
    const std::lock_guard guard(job.mutex);
    CellSlot* cell = job.resting.take();
    if (cell == nullptr) {
      job.made.push_back(std::make_unique<CellSlot>());
      cell = job.made.back().get();
    }
    const std::size_t use = cell->is_resting ? cell->use + 1 : 0;
    *cell = contents;
    cell->use = use;
    cell->owner = variable;
    cell->job = &job;
    *variable = address_of(*cell);
    return {};
  });
}

namespace {

/// Frees the handle, unless another language owns it. A handle that its maker freed before cannot
/// be freed here, but the variable's lifetime may end.
int free_cell(CellSlot& cell, bool is_over) noexcept {
  const int code = cell.free(cell.handle);
  if ((cell.handle == nullptr || is_over) && cell.kind != HandleKind::job) {
    const std::lock_guard guard(cell.job->mutex);
    release_slot(cell);
  }
  return code;
}

/// Errors: closed if the object was already freed through another variable.
int free_variable(Cell** variable) {
  CellSlot* const cell = cell_at(*variable);
  if (cell == nullptr || cell == &freed_variable) {
    return TESSERA_OK;
  }
  const bool is_owner = cell->owner == variable && cell->use == CellAddress::use_of(*variable);
  if (is_owner && !is_open(*variable)) {
    return TESSERA_OK;
  }
  const HandleKind kind = cell->kind;
  const int code = run(
      ProcedureName::of_free(kind).text(),
      [&] { return is_open(*variable) ? Status() : explain_closed(*variable, kind); },
      [&] { return free_cell(*cell, false); });
  if (is_owner && kind != HandleKind::job && cell->handle == nullptr) {
    *variable = address_of(freed_variable);
  }
  return code;
}

}  // namespace

extern "C" {

/// The C handle in a cell, for the procedure named `called`.
int tessera_f_open(const Cell* cell, int kind, const char* called, int64_t length, void** handle) {
  if (!is_open(cell)) {
    const HandleKind mark = kind_from_number(kind);
    const ProcedureName name(mark, {called, static_cast<std::size_t>(length)});
    return capi::call(name.text(), [&] { return explain_closed(cell, mark); });
  }
  *handle = cell_at(cell)->handle;
  return TESSERA_OK;
}

/// The cell in a variable that is an optional argument: null if it is absent.
const Cell* tessera_f_given(const Cell* cell) {
  return cell == nullptr ? address_of(empty_variable) : cell;
}

int tessera_f_free(Cell** variable) {
  return free_variable(variable);
}

/// The end of a variable's lifetime; acts only for the owner. Errors cannot be reported to a
/// caller.
void tessera_f_end(Cell** variable) {
  CellSlot* const cell = cell_at(*variable);
  if (cell != nullptr && cell->owner == variable && is_open(*variable)) {
    free_cell(*cell, true);
  }
  *variable = nullptr;
}

}  // extern "C"

}  // namespace tessera::fapi
