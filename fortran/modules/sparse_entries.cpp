// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <optional>

#include "fortran/c/arrays.h"
#include "fortran/c/job.h"
#include "fortran/c/sparse.h"
#include "fortran/detail/cells.hpp"
#include "fortran/detail/descriptors.hpp"
#include "fortran/detail/fortran_sparse.hpp"
#include "fortran/detail/scalars.hpp"

namespace tessera::fapi {
namespace {

using rma::Code;
using rma::Result;
using rma::Status;

/// Calls `act` with the transpose of a matrix: C sees dense arrays transposed.
template <class Act>
int with_transpose(const tessera_sparse* matrix, const Act& act) {
  tessera_sparse* turned = nullptr;
  if (const int code = tessera_sparse_transpose(matrix, nullptr, &turned); code != TESSERA_OK) {
    return code;
  }
  const int code = act(turned);
  const int freed = tessera_sparse_free(&turned);
  return code != TESSERA_OK ? code : freed;
}

/// A box of a matrix, as C counts, and where its entries go.
struct BoxArguments {
  std::array<std::int64_t, 2> lo = {};
  std::array<std::int64_t, 2> hi = {};
  Numbers row_starts;
  Numbers columns;
  std::optional<Dense> values;
};

/// One of the two dimensions, for messages.
struct Side {
  const char* name;
  std::int64_t most;
};

Status check_range(std::int64_t first, std::int64_t last, const Side& side) {
  if (first < 1 || last > side.most) {
    return Status::error(Code::out_of_range,
                         fmt::format("{0} {1} to {2} are out of range; its {0} are "
                                     "1 to {3}",
                                     side.name, first, last, side.most))
        .hint("bounds count from 1 and are inclusive");
  }
  if (first - 1 > last) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{} {} to {}: the lower bound is above the upper bound",
                                     side.name, first, last))
        .hint("a section without elements is written i:i-1");
  }
  return {};
}

Status take_box(const SparseProperties& facts, const Descriptor* lo, const Descriptor* hi,
                BoxArguments& arguments) {
  TESSERA_ASSIGN_OR_RETURN(const Numbers first, integers_of(lo, 2, "lo", "the matrix"));
  TESSERA_ASSIGN_OR_RETURN(const Numbers last, integers_of(hi, 2, "hi", "the matrix"));
  TESSERA_RETURN_IF_ERROR(check_range(first[0], last[0], {"rows", facts.rows}));
  TESSERA_RETURN_IF_ERROR(check_range(first[1], last[1], {"columns", facts.columns}));
  for (std::size_t dim = 0; dim < 2; ++dim) {
    arguments.lo[dim] = first[dim] - 1;
    arguments.hi[dim] = last[dim];
  }
  return {};
}

/// How many numbers fit into a list. Errors: not a list, or assumed size.
Result<std::int64_t> room_of(const Descriptor* list, std::string_view what) {
  TESSERA_ASSIGN_OR_RETURN(const Numbers now, integers(list, what));
  return std::ssize(now);
}

Status prepare_output(const SparseProperties& facts, const Descriptor* row_starts,
                      const Descriptor* columns, const Descriptor* values,
                      BoxArguments& arguments) {
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t starts, room_of(row_starts, "row_starts"));
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t capacity, room_of(columns, "columns"));
  TESSERA_RETURN_IF_ERROR(check_kind(facts.type, values, "values"));
  arguments.values.emplace(*values);
  const std::int64_t rows = arguments.hi[0] - arguments.lo[0];
  if (starts != rows + 1) {
    return Status::error(Code::invalid_argument,
                         fmt::format("row_starts has room for {} numbers, but {} rows need {}",
                                     starts, rows, rows + 1));
  }
  if (capacity != arguments.values->count()) {
    return Status::error(Code::invalid_argument,
                         fmt::format("columns has room for {} entries, but values for {}", capacity,
                                     arguments.values->count()));
  }
  arguments.row_starts.resize(static_cast<std::size_t>(starts));
  arguments.columns.resize(static_cast<std::size_t>(capacity));
  return {};
}

void shift_up(Numbers& numbers) {
  for (std::int64_t& number : numbers) {
    ++number;
  }
}

/// Writes numbers to the beginning of a list that may be longer.
Status write_first(const Numbers& numbers, const Descriptor* list, std::string_view what) {
  if (list->rank == 0 && numbers.empty()) {
    return {};
  }
  CFI_CDESC_T(1) beginning;
  auto& part = reinterpret_cast<Descriptor&>(beginning);
  std::memcpy(&beginning, list, list->rank == 0 ? offsetof(Descriptor, dim) : sizeof beginning);
  if (list->rank == 1) {
    part.dim[0].extent = std::ssize(numbers);
  }
  return write_integers(numbers, &part, what);
}

/// Copies the result to Fortran's variables. Errors: more entries than fit, if `entries` is absent.
Status write_entries(BoxArguments& arguments, std::int64_t found, Descriptor* row_starts,
                     Descriptor* columns, Descriptor* entries) {
  const std::int64_t room = std::ssize(arguments.columns);
  if (entries == nullptr && found > room) {
    return Status::error(Code::invalid_argument,
                         fmt::format("there are {} entries; columns and values have room for {}",
                                     found, room))
        .hint("with entries= you get the first ones, and the number of all");
  }
  arguments.values->give_back();
  arguments.columns.resize(static_cast<std::size_t>(std::min(found, room)));
  shift_up(arguments.columns);
  shift_up(arguments.row_starts);
  TESSERA_RETURN_IF_ERROR(write_integers(arguments.row_starts, row_starts, "row_starts"));
  TESSERA_RETURN_IF_ERROR(write_first(arguments.columns, columns, "columns"));
  return write_integer(found, entries, "entries");
}

/// A member's own rows; the module has the same structure. `row_starts` and `columns` are as in C.
struct LocalRows {
  std::int64_t first_row;
  std::int64_t rows;
  std::int64_t entries;
  std::int64_t type;
  const std::int64_t* row_starts;
  const std::int64_t* columns;
  void* values;
};

Numbers shifted(const std::int64_t* numbers, std::int64_t count) {
  Numbers all(numbers, numbers + count);
  shift_up(all);
  return all;
}

}  // namespace

extern "C" {

/// Each of the numbers may be null.
int tessera_f_sparse_shape(const Cell* cell, Descriptor* rows, Descriptor* columns,
                           Descriptor* entries) {
  tessera_sparse* matrix = nullptr;
  std::int64_t count = 0;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(matrix, open<tessera_sparse>(cell));
    return {};
  };
  const int code = run("tessera_sparse%shape", prepare,
                       [&] { return tessera_sparse_shape(matrix, nullptr, nullptr, &count); });
  if (code != TESSERA_OK) {
    return code;
  }
  return capi::call("tessera_sparse%shape", [&]() -> Status {
    const SparseProperties facts = facts_of(matrix);
    TESSERA_RETURN_IF_ERROR(write_integer(facts.rows, rows, "rows"));
    TESSERA_RETURN_IF_ERROR(write_integer(facts.columns, columns, "columns"));
    return write_integer(count, entries, "entries");
  });
}

int tessera_f_sparse_team(const Cell* cell, Cell** place) {
  tessera_sparse* matrix = nullptr;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(matrix, open<tessera_sparse>(cell));
    return {};
  };
  return make<tessera_team, tessera_team_free>(
      "tessera_sparse%team", place, cell, prepare,
      [&](tessera_team** made) { return tessera_sparse_team(matrix, made); });
}

int tessera_f_sparse_distribution(const Cell* cell, int of_columns, Cell** place) {
  tessera_sparse* matrix = nullptr;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(matrix, open<tessera_sparse>(cell));
    return {};
  };
  return make<tessera_distribution, tessera_distribution_free>(
      of_columns != 0 ? "tessera_sparse%column_distribution" : "tessera_sparse%row_distribution",
      place, cell, prepare, [&](tessera_distribution** made) {
        return of_columns != 0 ? tessera_sparse_column_distribution(matrix, made)
                               : tessera_sparse_row_distribution(matrix, made);
      });
}

/// `entries` may be null.
int tessera_f_sparse_get(const Cell* cell, const Descriptor* lo, const Descriptor* hi,
                         Descriptor* row_starts, Descriptor* columns, const Descriptor* values,
                         Descriptor* entries) {
  const char* const name = "tessera_sparse%get";
  tessera_sparse* matrix = nullptr;
  BoxArguments arguments;
  SparseProperties facts;
  std::int64_t found = 0;
  const auto take = [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(take_box(facts, lo, hi, arguments));
    return prepare_output(facts, row_starts, columns, values, arguments);
  };
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(matrix, open<tessera_sparse>(cell));
    facts = facts_of(matrix);
    return take().context("get from " + facts.description);
  };
  const int code = run(name, prepare, [&] {
    return tessera_sparse_get(matrix, arguments.lo.data(), arguments.hi.data(),
                              std::ssize(arguments.columns), arguments.row_starts.data(),
                              arguments.columns.data(), arguments.values->data(), &found);
  });
  return code != TESSERA_OK ? code : capi::call(name, [&] {
    return write_entries(arguments, found, row_starts, columns, entries)
        .context("get from " + facts.description);
  });
}

int tessera_f_sparse_rows_begin(Cell** place, const Cell* cell, LocalRows* rows) {
  tessera_sparse* matrix = nullptr;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(matrix, open<tessera_sparse>(cell));
    return {};
  };
  return make<tessera_sparse_rows, tessera_sparse_rows_end>(
      "tessera_sparse_rows%begin", place, cell, prepare, [&](tessera_sparse_rows** access) {
        tessera_sparse_block found = {};
        const int code = tessera_sparse_rows_begin(matrix, &found, access);
        *rows = {found.first_row + 1, found.rows,    found.entries, facts_of(matrix).type,
                 found.row_starts,    found.columns, found.values};
        return code;
      });
}

int tessera_f_sparse_rows_pattern(const Cell* cell, const LocalRows* rows, Descriptor* row_starts,
                                  Descriptor* columns) {
  return capi::call("tessera_sparse_rows%pattern", [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(open<tessera_sparse_rows>(cell).status());
    const Numbers starts = rows->rows == 0 ? Numbers{1} : shifted(rows->row_starts, rows->rows + 1);
    TESSERA_RETURN_IF_ERROR(write_integers(starts, row_starts, "row_starts"));
    return write_integers(shifted(rows->columns, rows->entries), columns, "columns");
  });
}

/// The values, if they have this type; never null.
int tessera_f_sparse_rows_values(const Cell* cell, LocalRows* rows, int64_t type, void** values) {
  return capi::call("tessera_sparse_rows%pointer", [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(open<tessera_sparse_rows>(cell).status());
    if (type != rows->type) {
      TESSERA_ASSIGN_OR_RETURN(const auto given, capi::element_kind(type));
      TESSERA_ASSIGN_OR_RETURN(const auto own, capi::element_kind(rows->type));
      return Status::error(Code::invalid_argument,
                           fmt::format("the pointer is to {}, but the matrix has {}",
                                       type_text(given), type_text(own)));
    }
    *values = rows->entries == 0 ? static_cast<void*>(rows) : rows->values;
    return {};
  });
}

int tessera_f_sparse_get_column(const Cell* cell, const Descriptor* column,
                                const Cell* vector_cell) {
  tessera_sparse* matrix = nullptr;
  tessera_array* vector = nullptr;
  std::int64_t number = 0;
  const auto take = [&](const SparseProperties& facts) -> Status {
    TESSERA_ASSIGN_OR_RETURN(number, one_integer(column, "column"));
    if (number < 1 || number > facts.columns) {
      return Status::error(Code::out_of_range,
                           fmt::format("there is no column {} in {}; 1 to {} are possible", number,
                                       facts.description, facts.columns));
    }
    return {};
  };
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(matrix, open<tessera_sparse>(cell));
    TESSERA_ASSIGN_OR_RETURN(vector, open<tessera_array>(vector_cell));
    return report_to_team(matrix, take(facts_of(matrix)));
  };
  return run("tessera_sparse%get_column", prepare,
             [&] { return tessera_sparse_get_column(matrix, number - 1, vector); });
}

int tessera_f_sparse_to_dense(const Cell* cell, const Cell* dense_cell) {
  tessera_sparse* matrix = nullptr;
  tessera_array* dense = nullptr;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(matrix, open<tessera_sparse>(cell));
    TESSERA_ASSIGN_OR_RETURN(dense, open<tessera_array>(dense_cell));
    return {};
  };
  return run("tessera_sparse%to_dense", prepare, [&] {
    return with_transpose(
        matrix, [&](tessera_sparse* turned) { return tessera_sparse_to_dense(turned, dense); });
  });
}

/// c = a b, or b a if the dense factor is on the left. For C the transposed c is the product of the
/// transposed factors in the opposite order.
int tessera_f_sparse_multiply_dense(const Cell* cell, int is_left, const Cell* b_cell,
                                    const Cell* c_cell) {
  tessera_sparse* matrix = nullptr;
  tessera_array* b = nullptr;
  tessera_array* c = nullptr;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(matrix, open<tessera_sparse>(cell));
    TESSERA_ASSIGN_OR_RETURN(b, open<tessera_array>(b_cell));
    TESSERA_ASSIGN_OR_RETURN(c, open<tessera_array>(c_cell));
    return {};
  };
  return run(is_left != 0 ? "tessera_sparse%multiply_dense_left" : "tessera_sparse%multiply_dense",
             prepare, [&] {
               return with_transpose(matrix, [&](tessera_sparse* turned) {
                 return is_left != 0 ? tessera_sparse_multiply_dense(turned, b, c)
                                     : tessera_array_multiply_sparse(b, turned, c);
               });
             });
}

int tessera_f_sparse_number(const Cell* cell, int is_shift, const Descriptor* number) {
  tessera_sparse* matrix = nullptr;
  const char* const name = is_shift != 0 ? "tessera_sparse%shift_diagonal" : "tessera_sparse%scale";
  Scalar factor;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(matrix, open<tessera_sparse>(cell));
    return report_to_team(matrix, [&]() -> Status {
      TESSERA_ASSIGN_OR_RETURN(const auto kind, capi::element_kind(facts_of(matrix).type));
      TESSERA_ASSIGN_OR_RETURN(factor, scalar_of(kind, number, "the number"));
      return {};
    }());
  };
  return run(name, prepare, [&] {
    return is_shift != 0 ? tessera_sparse_shift_diagonal(matrix, factor.address())
                         : tessera_sparse_scale(matrix, factor.address());
  });
}

/// op 0: the diagonal to a vector; 1 and 2: rows and columns times a vector's elements.
int tessera_f_sparse_vector(const Cell* cell, int op, const Cell* vector_cell) {
  tessera_sparse* matrix = nullptr;
  tessera_array* vector = nullptr;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(matrix, open<tessera_sparse>(cell));
    TESSERA_ASSIGN_OR_RETURN(vector, open<tessera_array>(vector_cell));
    return {};
  };
  const char* const name = op == 0   ? "tessera_sparse%get_diagonal"
                           : op == 1 ? "tessera_sparse%scale_rows"
                                     : "tessera_sparse%scale_columns";
  return run(name, prepare, [&] {
    return op == 0   ? tessera_sparse_get_diagonal(matrix, vector)
           : op == 1 ? tessera_sparse_scale_rows(matrix, vector)
                     : tessera_sparse_scale_columns(matrix, vector);
  });
}

}  // extern "C"

}  // namespace tessera::fapi
