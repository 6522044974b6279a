// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/detail/cells.hpp"

#include <fmt/format.h>

namespace tessera::fapi {

using rma::Code;
using rma::Status;

namespace {

/// What an optional argument has that is there, but empty: one that is absent is null.
constexpr Cell empty_variable;

}  // namespace

namespace {

/// What a type of the module is called, and the procedure that frees its variables.
struct TypeName {
  const char* type;
  const char* free = "free";
};

/// In the order of the kinds.
constexpr std::array<TypeName, 16> type_names = {{{"tessera_job", "stop"},
                                                  {"tessera_team"},
                                                  {"tessera_locks"},
                                                  {"tessera_counter"},
                                                  {"tessera_distribution"},
                                                  {"tessera_array"},
                                                  {"tessera_block", "end"},
                                                  {"tessera_halo"},
                                                  {"tessera_transfers"},
                                                  {"tessera_sparse"},
                                                  {"tessera_sparse_builder"},
                                                  {"tessera_sparse_rows", "end"},
                                                  {"tessera_spmv"},
                                                  {"tessera_checkpoint_writer"},
                                                  {"tessera_checkpoint"},
                                                  {"tessera_mirrored"}}};

constexpr std::size_t number_of(Mark kind) {
  return static_cast<std::size_t>(kind) - static_cast<std::size_t>(Mark::job);
}
static_assert(number_of(Mark::mirrored) + 1 == type_names.size());

const TypeName& type_name(Mark kind) {
  return type_names[number_of(kind)];
}

}  // namespace

ProcedureName::ProcedureName(Mark kind, std::string_view procedure) {
  *fmt::format_to_n(text_.begin(), text_.size() - 1, "{}%{}", type_name(kind).type, procedure).out =
      '\0';
}

ProcedureName ProcedureName::of_free(Mark kind) {
  return {kind, type_name(kind).free};
}

Status explain_closed(const Cell* address, Mark kind) {
  const Cell* const cell = cell_at(address);
  if (cell == nullptr || cell == &empty_variable) {
    return Status::error(Code::invalid_argument,
                         fmt::format("the {} of this call was not made", capi::name_of(kind)))
        .hint("a variable is empty until one of its create, start or begin procedures was called");
  }
  const char* const name = capi::name_of(cell->kind);
  if (cell->job->handle == nullptr) {
    return Status::error(Code::closed, cell->kind == Mark::job
                                           ? std::string("the job was stopped")
                                           : fmt::format("the job of this {} was stopped", name));
  }
  return Status::error(Code::closed, fmt::format("the {} was freed", name))
      .hint("what is freed is freed for all copies of the variable, too");
}

Status check_place(Cell* const* place) {
  if (is_open(*place) && cell_at(*place)->owner == place) {
    return Status::error(Code::invalid_argument, fmt::format("this variable has its {} already",
                                                             capi::name_of(cell_at(*place)->kind)))
        .hint("free it first, or the variables are in the wrong order");
  }
  return {};
}

namespace {

bool can_be_used_again(const Cell& cell) {
  return cell.kind == Mark::access && cell.handle == nullptr && cell.use + 1 < cell_bytes;
}

/// A cell of the job's that the variable may use again; null if there is none.
Cell* former_cell(Cell* const* place, Job& job) {
  Cell* const own = cell_at(*place);
  if (own != nullptr && own->owner == place && own->job == &job && can_be_used_again(*own)) {
    return own;
  }
  if (job.ended.empty()) {
    return nullptr;
  }
  Cell* const other = job.ended.back();
  job.ended.pop_back();
  return other;
}

}  // namespace

int fill_place(const char* name, Cell** place, const Cell& contents, Cell* job) {
  return capi::call(name, [&]() -> Status {
    if (job == nullptr) {
      auto own = std::make_unique<Job>();
      static_cast<Cell&>(*own) = contents;
      own->owner = place;
      own->job = own.get();
      own->former = cell_at(*place);
      *place = own.release();
      return {};
    }
    auto& all = static_cast<Job&>(*job);
    const std::lock_guard guard(all.mutex);
    Cell* const former = contents.kind == Mark::access ? former_cell(place, all) : nullptr;
    if (former != nullptr) {
      former->handle = contents.handle;
      former->owner = place;
      ++former->use;
      *place = reinterpret_cast<Cell*>(reinterpret_cast<std::byte*>(former) + former->use);
      return {};
    }
    auto made = std::make_unique<Cell>(contents);
    made->owner = place;
    made->job = job;
    Cell* const cell = made.get();
    all.made.push_back(std::move(made));
    *place = cell;
    return {};
  });
}

namespace {

/// Errors: closed where another variable's freed it before.
int free_place(Cell** place) {
  Cell* const cell = cell_at(*place);
  if (cell == nullptr || (!is_open(*place) && cell->owner == place)) {
    return TESSERA_OK;
  }
  return run(
      ProcedureName::of_free(cell->kind).text(),
      [&] { return is_open(*place) ? Status() : explain_closed(cell, cell->kind); },
      [&] { return cell->free(cell->handle); });
}

}  // namespace

extern "C" {

/// The handle of the C interface in a cell, for the procedure that is `called` so.
int tessera_f_open(const Cell* cell, int kind, const char* called, int64_t length, void** handle) {
  if (!is_open(cell)) {
    // Fortran counts the kinds from 0.
    const auto first = static_cast<std::uint64_t>(Mark::job);
    const auto mark = static_cast<Mark>(first + static_cast<std::uint64_t>(kind));
    const ProcedureName name(mark, {called, static_cast<std::size_t>(length)});
    return capi::call(name.text(), [&] { return explain_closed(cell, mark); });
  }
  *handle = cell_at(cell)->handle;
  return TESSERA_OK;
}

/// The cell in a variable, as an optional argument: null stands for one that is absent.
const Cell* tessera_f_given(const Cell* cell) {
  return cell == nullptr ? &empty_variable : cell;
}

int tessera_f_free(Cell** place) {
  return free_place(place);
}

/// The end of a variable's life: of the owner's only. What goes wrong has nobody to be told to.
void tessera_f_end(Cell** place) {
  Cell* const cell = cell_at(*place);
  if (cell != nullptr && cell->owner == place && cell->use == use_of(*place)) {
    if (is_open(*place)) {
      cell->free(cell->handle);
    }
    if (can_be_used_again(*cell)) {
      cell->owner = nullptr;
      auto& job = static_cast<Job&>(*cell->job);
      const std::lock_guard guard(job.mutex);
      job.ended.push_back(cell);
    }
  }
  *place = nullptr;
}

}  // extern "C"

}  // namespace tessera::fapi
