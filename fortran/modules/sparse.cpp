// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <optional>

#include "fortran/c/sparse.h"
#include "fortran/detail/cells.hpp"
#include "fortran/detail/descriptors.hpp"
#include "fortran/detail/fortran_sparse.hpp"
#include "fortran/detail/scalars.hpp"

namespace tessera::fapi {
namespace {

using rma::Status;

/// A matrix's own rows for C.
struct OwnRowBounds {
  Numbers starts;
  Numbers columns;
  std::optional<Dense> values;
};

/// Checks that the list of starts is valid, counted from 1.
Status check_starts(const Numbers& starts) {
  if (!starts.empty() && starts.front() != 1) {
    return wrong(fmt::format("row_starts begins with {}; it must begin with 1", starts.front()));
  }
  for (std::size_t i = 1; i < starts.size(); ++i) {
    if (starts[i] < starts[i - 1]) {
      return wrong(fmt::format("row_starts has {} after {}; it must not decrease", starts[i],
                               starts[i - 1]));
    }
  }
  return {};
}

/// Checks that the columns of each row increase. Requires: the starts of rows count from 0.
Status check_ascending(const OwnRowBounds& own) {
  for (std::size_t row = 0; row + 1 < own.starts.size(); ++row) {
    const auto end = static_cast<std::size_t>(own.starts[row + 1]);
    for (auto entry = static_cast<std::size_t>(own.starts[row]) + 1; entry < end; ++entry) {
      if (own.columns[entry] <= own.columns[entry - 1]) {
        return wrong(fmt::format("own row {} has column {} after column {}", row + 1,
                                 own.columns[entry] + 1, own.columns[entry - 1] + 1))
            .hint("the columns of a row must increase; a builder takes entries in any order");
      }
    }
  }
  return {};
}

Status take_own_rows(std::int64_t element, std::int64_t ncolumns, const Descriptor* row_starts,
                     const Descriptor* columns, const Descriptor* values, OwnRowBounds& own) {
  TESSERA_ASSIGN_OR_RETURN(own.starts, integers(row_starts, "row_starts"));
  TESSERA_RETURN_IF_ERROR(check_starts(own.starts));
  TESSERA_ASSIGN_OR_RETURN(own.columns, zero_based_indices(columns, ncolumns, "columns"));
  TESSERA_RETURN_IF_ERROR(check_kind(element, values, "values"));
  own.values.emplace(*values);
  for (std::int64_t& start : own.starts) {
    --start;
  }
  if (own.starts.empty()) {
    own.starts = {0};
  }
  if (own.starts.back() != std::ssize(own.columns) || own.starts.back() != own.values->count()) {
    return wrong(fmt::format("row_starts is for {} entries, but there are {} columns and {} "
                             "values",
                             own.starts.back(), own.columns.size(), own.values->count()))
        .hint("row_starts must end with the number of entries plus one");
  }
  return check_ascending(own);
}

}  // namespace

extern "C" {

/// The team and the starts of rows may be null. Returns rows and columns as `shape`.
int tessera_f_sparse_builder_create(Cell** place, const Cell* job_cell, int64_t element,
                                    const Descriptor* rows, const Descriptor* columns,
                                    const char* name, const Cell* team,
                                    const Descriptor* row_starts, int balance, int64_t* shape) {
  tessera_job* job = nullptr;
  std::array<std::int64_t, 2> extents = {};
  SparseArguments choice;
  const auto take = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(extents[0], one_integer(rows, "rows"));
    TESSERA_ASSIGN_OR_RETURN(extents[1], one_integer(columns, "columns"));
    return take_choice(name, row_starts, balance, choice);
  };
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(job, open<tessera_job>(job_cell));
    TESSERA_ASSIGN_OR_RETURN(tessera_team* const members, team_in(team));
    TESSERA_RETURN_IF_ERROR(report_to_team(*job, members, take()));
    choice.options.team = members;
    return {};
  };
  return make<tessera_sparse_builder, tessera_sparse_builder_free>(
      "tessera_sparse_builder%create", place, job_cell, prepare,
      [&](tessera_sparse_builder** builder) {
        const int code = tessera_sparse_builder_create(job, element, extents[0], extents[1],
                                                       &choice.options, builder);
        if (code == TESSERA_OK) {
          capi::copy_list(extents, shape);
        }
        return code;
      });
}

/// For a matrix with these rows, columns and elements.
int tessera_f_sparse_builder_add(const Cell* cell, const int64_t* shape, int64_t element,
                                 const Descriptor* rows, const Descriptor* columns,
                                 const Descriptor* values) {
  tessera_sparse_builder* builder = nullptr;
  Numbers row;
  Numbers column;
  std::optional<Dense> local;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(builder, open<tessera_sparse_builder>(cell));
    TESSERA_ASSIGN_OR_RETURN(row, zero_based_indices(rows, shape[0], "rows"));
    TESSERA_ASSIGN_OR_RETURN(column, zero_based_indices(columns, shape[1], "columns"));
    TESSERA_RETURN_IF_ERROR(check_kind(element, values, "values"));
    local.emplace(*values);
    if (row.size() != column.size() || std::ssize(row) != local->count()) {
      return wrong(fmt::format("{} rows, {} columns and {} values", row.size(), column.size(),
                               local->count()));
    }
    return {};
  };
  return run("tessera_sparse_builder%add", prepare, [&] {
    return tessera_sparse_builder_add_list(builder, std::ssize(row), row.data(), column.data(),
                                           local->data());
  });
}

int tessera_f_sparse_builder_reserve(const Cell* cell, const Descriptor* entries) {
  tessera_sparse_builder* builder = nullptr;
  std::int64_t count = 0;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(builder, open<tessera_sparse_builder>(cell));
    TESSERA_ASSIGN_OR_RETURN(count, one_integer(entries, "entries"));
    return {};
  };
  return run("tessera_sparse_builder%reserve", prepare,
             [&] { return tessera_sparse_builder_reserve(builder, count); });
}

int tessera_f_sparse_builder_assemble(const Cell* cell, Cell** place) {
  tessera_sparse_builder* builder = nullptr;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(builder, open<tessera_sparse_builder>(cell));
    return {};
  };
  return make<tessera_sparse, tessera_sparse_free>(
      "tessera_sparse_builder%assemble", place, cell, prepare,
      [&](tessera_sparse** matrix) { return tessera_sparse_builder_assemble(builder, matrix); });
}

/// The team may be null.
int tessera_f_sparse_from_rows(Cell** place, const Cell* job_cell, int64_t element,
                               const Descriptor* ncolumns, const Descriptor* row_starts,
                               const Descriptor* columns, const Descriptor* values,
                               const char* name, const Cell* team) {
  tessera_job* job = nullptr;
  std::int64_t width = 0;
  OwnRowBounds own;
  SparseArguments choice;
  const auto take = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(width, one_integer(ncolumns, "ncolumns"));
    TESSERA_RETURN_IF_ERROR(take_own_rows(element, width, row_starts, columns, values, own));
    return take_choice(name, nullptr, TESSERA_BALANCE_ROWS, choice);
  };
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(job, open<tessera_job>(job_cell));
    TESSERA_ASSIGN_OR_RETURN(tessera_team* const members, team_in(team));
    TESSERA_RETURN_IF_ERROR(report_to_team(*job, members, take()));
    choice.options.team = members;
    return {};
  };
  return make<tessera_sparse, tessera_sparse_free>(
      "tessera_sparse%from_rows", place, job_cell, prepare, [&](tessera_sparse** matrix) {
        return tessera_sparse_create(job, element, std::ssize(own.starts) - 1, width,
                                     own.starts.data(), own.columns.data(), own.values->data(),
                                     &choice.options, matrix);
      });
}

/// C sees a dense array transposed, so its result must be transposed, too.
int tessera_f_sparse_from_dense(Cell** place, const Cell* dense_cell, const Descriptor* threshold,
                                const char* name, const Descriptor* row_starts, int balance) {
  tessera_array* dense = nullptr;
  SparseArguments choice;
  SparseArguments between;
  double limit = 0;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(dense, open<tessera_array>(dense_cell));
    return capi::report_to_team(capi::array_of(dense).team(), [&]() -> Status {
      TESSERA_ASSIGN_OR_RETURN(limit, real_of(threshold, "threshold"));
      TESSERA_RETURN_IF_ERROR(take_choice(name, nullptr, TESSERA_BALANCE_ROWS, between));
      return take_choice(name, row_starts, balance, choice);
    }());
  };
  return make<tessera_sparse, tessera_sparse_free>(
      "tessera_sparse%from_dense", place, dense_cell, prepare, [&](tessera_sparse** matrix) {
        tessera_sparse* turned = nullptr;
        if (const int code = tessera_sparse_from_dense(dense, limit, &between.options, &turned);
            code != TESSERA_OK) {
          return code;
        }
        const int code = tessera_sparse_transpose(turned, &choice.options, matrix);
        const int freed = tessera_sparse_free(&turned);
        return code != TESSERA_OK ? code : freed;
      });
}

int tessera_f_sparse_transpose(Cell** place, const Cell* of_cell, const char* name,
                               const Descriptor* row_starts, int balance) {
  tessera_sparse* of = nullptr;
  SparseArguments choice;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(of, open<tessera_sparse>(of_cell));
    return report_to_team(of, take_choice(name, row_starts, balance, choice));
  };
  return make<tessera_sparse, tessera_sparse_free>(
      "tessera_sparse%transpose", place, of_cell, prepare, [&](tessera_sparse** matrix) {
        return tessera_sparse_transpose(of, &choice.options, matrix);
      });
}

int tessera_f_sparse_count_sketch(Cell** place, const Cell* of_cell, const Descriptor* buckets,
                                  const Descriptor* seed, int of_columns, const char* name,
                                  const Descriptor* row_starts, int balance) {
  tessera_sparse* of = nullptr;
  std::int64_t bucket_count = 0;
  std::int64_t start = 0;
  SparseArguments choice;
  const auto take = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(bucket_count, one_integer(buckets, "buckets"));
    TESSERA_ASSIGN_OR_RETURN(start, one_integer(seed, "seed"));
    return take_choice(name, row_starts, balance, choice);
  };
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(of, open<tessera_sparse>(of_cell));
    return report_to_team(of, take());
  };
  return make<tessera_sparse, tessera_sparse_free>(
      "tessera_sparse%count_sketch", place, of_cell, prepare, [&](tessera_sparse** matrix) {
        return tessera_sparse_count_sketch(of, bucket_count, static_cast<std::uint64_t>(start),
                                           of_columns, &choice.options, matrix);
      });
}

int tessera_f_sparse_duplicate(Cell** place, const Cell* of_cell, const char* name) {
  tessera_sparse* of = nullptr;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(of, open<tessera_sparse>(of_cell));
    return {};
  };
  return make<tessera_sparse, tessera_sparse_free>(
      "tessera_sparse%duplicate", place, of_cell, prepare,
      [&](tessera_sparse** matrix) { return tessera_sparse_duplicate(of, name, matrix); });
}

int tessera_f_sparse_multiply(Cell** place, const Cell* a_cell, const Cell* b_cell,
                              const char* name) {
  tessera_sparse* a = nullptr;
  tessera_sparse* b = nullptr;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(a, open<tessera_sparse>(a_cell));
    TESSERA_ASSIGN_OR_RETURN(b, open<tessera_sparse>(b_cell));
    return {};
  };
  return make<tessera_sparse, tessera_sparse_free>(
      "tessera_sparse%multiply", place, a_cell, prepare,
      [&](tessera_sparse** product) { return tessera_sparse_multiply(a, b, name, product); });
}

/// A variable for an object that another language has made. Its maker keeps ownership.
int tessera_f_sparse_from_handle(Cell** place, const Cell* job, tessera_sparse* handle) {
  const auto prepare = [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(check_empty(place));
    TESSERA_RETURN_IF_ERROR(open<tessera_job>(job).status());
    return capi::check(handle);
  };
  return run("tessera_sparse%from_c_handle", prepare, [&] {
    return store_handle("tessera_sparse%from_c_handle", place,
                        {.kind = HandleKind::sparse, .handle = handle, .free = keep_handle}, job);
  });
}

}  // extern "C"

}  // namespace tessera::fapi
