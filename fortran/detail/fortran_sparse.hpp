// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Fortran arguments of functions on sparse matrices: row and column numbers, how a matrix
// is made, arrays beside a matrix; and reporting a member's error to its team. Rows and columns are
// shifted but not exchanged: they are rows and columns for C, too.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "fortran/c/sparse.h"
#include "fortran/detail/arguments.hpp"
#include "fortran/detail/cells.hpp"
#include "fortran/detail/collective.hpp"
#include "fortran/detail/descriptors.hpp"
#include "fortran/detail/sparse.hpp"

namespace tessera::fapi {

/// One integer of any kind. Errors: invalid_argument.
inline rma::Result<std::int64_t> one_integer(const Descriptor* given, std::string_view what) {
  TESSERA_ASSIGN_OR_RETURN(const Numbers numbers, integers(given, what));
  if (numbers.size() != 1) {
    return rma::Status::error(
        rma::Code::invalid_argument,
        fmt::format("{} has {} numbers; it must have one", what, numbers.size()));
  }
  return numbers[0];
}

/// Row or column numbers from 1, converted to C's. Errors: invalid_argument, out_of_range.
inline rma::Result<Numbers> zero_based_indices(const Descriptor* given, std::int64_t most,
                                               std::string_view what) {
  TESSERA_ASSIGN_OR_RETURN(Numbers indices, integers(given, what));
  for (std::int64_t& index : indices) {
    if (index < 1 || index > most) {
      return rma::Status::error(rma::Code::out_of_range,
                                fmt::format("{} has {}; 1 to {} are possible", what, index, most));
    }
    --index;
  }
  return indices;
}

/// Writes a number to an integer of any kind, if it is present.
inline rma::Status write_integer(std::int64_t number, Descriptor* to, std::string_view what) {
  return to == nullptr ? rma::Status() : write_integers({&number, 1}, to, what);
}

/// Checks that elements of this type are present, and their number. Errors: invalid_argument.
inline rma::Status check_kind(std::int64_t type, const Descriptor* given, std::string_view what) {
  TESSERA_RETURN_IF_ERROR(check_counted(given, what));
  TESSERA_ASSIGN_OR_RETURN(const auto kind, capi::element_kind(type));
  return check_elements(kind, given, what);
}

/// A matrix's properties. Requires: the handle is open.
struct SparseProperties {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t type = 0;
  std::string description;
};
inline SparseProperties facts_of(const tessera_sparse* matrix) {
  return std::visit(
      []<class T>(const capi::SparseMatrix<T>& of) {
        return SparseProperties{of.rows(), of.columns(),
                                static_cast<std::int64_t>(rma::element_type<T>()), of.describe()};
      },
      capi::contents_of(matrix));
}

/// Reports an error of one member to all. Requires: the handle is open.
inline rma::Status report_to_team(const tessera_sparse* matrix, rma::Status status) {
  return std::visit([&](auto& of) { return capi::report_to_team(of.team(), std::move(status)); },
                    capi::contents_of(matrix));
}
/// The same if there is no matrix yet. Requires: the handles are open.
inline rma::Status report_to_team(const tessera_job& job, const tessera_team* members,
                                  rma::Status status) {
  rma::Team team = members == nullptr ? job.contents->world() : capi::contents_of(members);
  return capi::report_to_team(team, std::move(status));
}

/// The team in a variable; null if none is given. Errors: as open().
inline rma::Result<tessera_team*> team_in(const Cell* cell) {
  if (cell == nullptr) {
    return nullptr;
  }
  return open<tessera_team>(cell);
}

/// How a matrix is made, for C; `options` points into the other members.
struct SparseArguments {
  Numbers row_starts;
  tessera_sparse_options options = {};
};

/// From Fortran's arguments; `row_starts` may be absent. Errors: invalid_argument.
inline rma::Status take_choice(const char* name, const Descriptor* row_starts, int balance,
                               SparseArguments& choice) {
  tessera_sparse_options_init(&choice.options);
  choice.options.name = name;
  choice.options.balance = balance;
  if (row_starts == nullptr) {
    return {};
  }
  TESSERA_ASSIGN_OR_RETURN(choice.row_starts, integers(row_starts, "row_starts"));
  std::int64_t before = 0;
  for (std::int64_t& start : choice.row_starts) {
    if (start <= before || (before == 0 && start != 1)) {
      return rma::Status::error(rma::Code::invalid_argument,
                                before == 0
                                    ? fmt::format("row_starts begins with {}", start)
                                    : fmt::format("row_starts has {} after {}", start, before))
          .hint("it begins with row 1 and increases, with a number for each member that has rows");
    }
    before = start;
    --start;
  }
  choice.options.row_starts = choice.row_starts.data();
  choice.options.row_start_count = std::ssize(choice.row_starts);
  return {};
}

}  // namespace tessera::fapi
