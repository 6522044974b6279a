// SPDX-License-Identifier: BSD-3-Clause
//
// Questions about arrays and memory.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>

#include "fortran/ga/cut.hpp"
#include "fortran/ga/operations.hpp"
#include "fortran/ga/session.hpp"
#include "fortran/ga/texts.hpp"
#include "rma/base/memory.hpp"

namespace tessera::ga {

namespace {

std::string_view long_name_of(Type type) {
  switch (type) {
    case Type::c_int:
      return "integer";
    case Type::c_double:
      return "double precision";
    default:
      return gas_name_of(type);
  }
}

}  // namespace

Status inquire(Record& record, const TypeOut& type, const DimsOut& extents) {
  type.set(record.type());
  extents.set(record.extents());
  return {};
}

Status inquire_type(Record& record, const TypeOut& type) {
  type.set(record.type());
  return {};
}

Result<char*> inquire_name(Record& record) {
  return record.c_name();
}

Result<std::int64_t> inquire_memory() {
  const Session* const session = Session::current();
  return session == nullptr ? 0 : session->allocated;
}

Result<std::int64_t> ndim(Record& record) {
  return record.ndims();
}

Result<std::int64_t> get_dimension(Record& record) {
  return record.ndims();
}

Result<bool> compare_distr(Record& a, Record& b) {
  return a.extents() == b.extents() && a.array().distribution() == b.array().distribution() &&
         a.group().members == b.group().members;
}

Result<bool> uses_proc_grid(Record& record) {
  return !record.plan.grid.is_empty();
}

Result<bool> uses_irreg_proc_grid(Record& record) {
  return record.plan.layout == ArrayLayout::tiled_irregular;
}

Status get_distribution_type(Record& record, const TextOut& text) {
  constexpr std::string_view names[] = {"regular", "block_cyclic", "scalapack", "tiled",
                                        "tiled_irreg"};
  text.set(names[static_cast<std::size_t>(record.plan.layout)]);
  return {};
}

Result<bool> has_ghosts(Record& record) {
  return record.array().distribution().has_ghosts();
}

Result<bool> is_mirrored(Record& record) {
  return record.group().number == Group::mirror;
}

Result<bool> valid_handle(std::int64_t handle) {
  const Record* const record = Records::find(handle);
  return record != nullptr && record->is_allocated();
}

Result<std::int64_t> verify_handle(std::int64_t handle) {
  TESSERA_ASSIGN_OR_RETURN(const bool is_valid, valid_handle(handle));
  return is_valid ? 1 : 0;
}

Status check_handle(std::int64_t handle, std::string_view where) {
  const Record* const record = Records::find(handle);
  if (record == nullptr || !record->is_allocated()) {
    return explain_array(handle).context(where);
  }
  return {};
}

Result<std::int64_t> memory_avail() {
  Session* const session = Session::current();
  if (session != nullptr && session->limit >= 0) {
    return std::max<std::int64_t>(session->limit - session->allocated, 0);
  }
  const std::uint64_t bytes = rma::available_memory_bytes();
  return static_cast<std::int64_t>(
      std::min<std::uint64_t>(bytes, std::numeric_limits<std::int64_t>::max()));
}

Result<bool> memory_limited() {
  const Session* const session = Session::current();
  return session != nullptr && session->limit >= 0;
}

Status set_memory_limit(std::int64_t bytes) {
  Session* const session = Session::current();
  if (session == nullptr) {
    return not_running();
  }
  session->limit = bytes >= 0 ? bytes : -1;
  return {};
}

Result<bool> uses_ma() {
  return false;
}

Status summarize(bool is_verbose) {
  fmt::print(" Summary of allocated global arrays\n-----------------------------------\n");
  int number = 0;
  for (const Record* const record : Records::all()) {
    if (!record->is_allocated()) {
      continue;
    }
    fmt::print("  array {} => {} {}({}),  handle: {} \n", number++, long_name_of(record->type()),
               record->plan.name, text_of_extents(record->extents(), Style::fortran, ","),
               record->handle());
    const std::int64_t owners = is_verbose ? record->group().size() : 0;
    for (std::int64_t rank = 0; rank < owners; ++rank) {
      fmt::print("    ({}) -> {} \n", text_of_bounds(box_of_process(*record, rank), Style::fortran),
                 rank);
    }
  }
  fmt::print("{}\n\n", number == 0 ? "  No active global arrays\n" : "");
  std::fflush(stdout);
  return {};
}

}  // namespace tessera::ga
