// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fortran/c/sparse.h"
#include "fortran/detail/arguments.hpp"
#include "fortran/detail/operands.hpp"
#include "fortran/detail/sparse.hpp"
#include "linalg/sparse_convert.hpp"
#include "linalg/sparse_dense.hpp"
#include "linalg/sparse_diagonal.hpp"

namespace tessera::capi {
namespace {

using linalg::LocalCsr;
using linalg::LocalRows;
using linalg::SparseSummary;
using rma::Status;

/// Where the C caller wants entries.
struct EntryOutput {
  std::int64_t capacity;
  std::int64_t* row_starts;
  std::int64_t* columns;
  void* values;
  std::int64_t* entries;
};

Status check_places(const EntryOutput& to) {
  TESSERA_RETURN_IF_ERROR(check_count(to.capacity, "entries"));
  TESSERA_RETURN_IF_ERROR(required(to.row_starts, "starts of rows"));
  TESSERA_RETURN_IF_ERROR(required(to.entries, "number of entries"));
  if (to.capacity > 0) {
    TESSERA_RETURN_IF_ERROR(required(to.columns, "columns"));
    TESSERA_RETURN_IF_ERROR(required(to.values, "values"));
  }
  return {};
}

template <class T>
Status get(SparseMatrix<T>& matrix, const std::int64_t* lo, const std::int64_t* hi,
           const EntryOutput& to) {
  TESSERA_RETURN_IF_ERROR(check_places(to));
  TESSERA_ASSIGN_OR_RETURN(const arrays::Box box, box_of(matrix.extents(), lo, hi));
  TESSERA_ASSIGN_OR_RETURN(const LocalCsr<T> rows, matrix.get(box));
  const std::int64_t given = std::min(rows.entries(), to.capacity);
  std::copy(rows.row_starts.begin(), rows.row_starts.end(), to.row_starts);
  std::copy_n(rows.column.begin(), given, to.columns);
  std::copy_n(rows.value.begin(), given, static_cast<T*>(to.values));
  *to.entries = rows.entries();
  return {};
}

template <class T>
Status begin_rows(tessera_job* job, SparseMatrix<T>& matrix, tessera_sparse_block* block,
                  tessera_sparse_rows** rows) {
  TESSERA_RETURN_IF_ERROR(required(block, "block"));
  TESSERA_RETURN_IF_ERROR(required(rows, "access"));
  TESSERA_RETURN_IF_ERROR(check_running(*job));
  TESSERA_ASSIGN_OR_RETURN(LocalRows<T> own, matrix.local());
  *block = {own.first_row(),  own.rows(),           own.entries(),
            own.row_starts(), own.columns().data(), own.values().data()};
  *rows = make_handle<tessera_sparse_rows>(
      job, std::make_unique<ShellType<tessera_sparse_rows>::Contents>(std::move(own)),
      "access to rows of sparse matrix '" + matrix.name() + "'");
  return {};
}

template <class T>
Status give_blocks(SparseMatrix<T>& matrix, std::int64_t capacity, std::int64_t* members,
                   std::int64_t* count) {
  TESSERA_RETURN_IF_ERROR(check_count(capacity, "members"));
  TESSERA_RETURN_IF_ERROR(required(count, "result"));
  if (capacity > 0) {
    TESSERA_RETURN_IF_ERROR(required(members, "members"));
  }
  TESSERA_ASSIGN_OR_RETURN(const std::vector<rma::TeamRank> blocks, matrix.column_blocks());
  const std::int64_t given = std::min(std::ssize(blocks), capacity);
  std::transform(blocks.begin(), blocks.begin() + given, members,
                 [](rma::TeamRank member) { return member.value; });
  *count = std::ssize(blocks);
  return {};
}

template <class T>
Status summarise(SparseMatrix<T>& matrix, tessera_sparse_summary* result) {
  TESSERA_RETURN_IF_ERROR(report_to_team(matrix.team(), required(result, "summary")));
  TESSERA_ASSIGN_OR_RETURN(const SparseSummary summary, linalg::summarise(matrix));
  *result = {summary.empty_rows,     summary.fewest_in_row,  summary.most_in_row,
             summary.on_diagonal,    summary.below_diagonal, summary.above_diagonal,
             summary.fewest_on_rank, summary.most_on_rank};
  return {};
}

template <class T>
Status summarise_as_text(SparseMatrix<T>& matrix, char* text, std::int64_t capacity,
                         std::int64_t* length) {
  TESSERA_RETURN_IF_ERROR(report_to_team(matrix.team(), copy_text("", text, capacity, nullptr)));
  TESSERA_ASSIGN_OR_RETURN(const SparseSummary summary, linalg::summarise(matrix));
  return copy_text(to_string(summary), text, capacity, length);
}

}  // namespace

extern "C" {

int tessera_sparse_shape(const tessera_sparse* matrix, int64_t* rows, int64_t* columns,
                         int64_t* entries) {
  return on_sparse(__func__, matrix, [&](const auto& asked) -> Status {
    set_if_given(asked.rows(), rows);
    set_if_given(asked.columns(), columns);
    set_if_given(asked.entries(), entries);
    return {};
  });
}

int tessera_sparse_type(const tessera_sparse* matrix, tessera_type* type) {
  return on_sparse(__func__, matrix, [&]<class T>(const SparseMatrix<T>&) -> Status {
    TESSERA_RETURN_IF_ERROR(required(type, "result"));
    *type = static_cast<tessera_type>(rma::element_type<T>());
    return {};
  });
}

int tessera_sparse_describe(const tessera_sparse* matrix, char* text, int64_t capacity,
                            int64_t* length) {
  return on_sparse(__func__, matrix, [&](const auto& asked) {
    return copy_text(asked.describe(), text, capacity, length);
  });
}

int tessera_sparse_name(const tessera_sparse* matrix, char* text, int64_t capacity,
                        int64_t* length) {
  return on_sparse(__func__, matrix, [&](const auto& asked) {
    return copy_text(asked.name(), text, capacity, length);
  });
}

int tessera_sparse_team(const tessera_sparse* matrix, tessera_team** team) {
  return on_sparse(__func__, matrix, [&](const auto& asked) -> Status {
    TESSERA_RETURN_IF_ERROR(required(team, "team"));
    *team = make_handle<tessera_team>(job_of(matrix), asked.team());
    return {};
  });
}

int tessera_sparse_row_distribution(const tessera_sparse* matrix,
                                    tessera_distribution** distribution) {
  return on_sparse(__func__, matrix, [&](const auto& asked) -> Status {
    TESSERA_RETURN_IF_ERROR(required(distribution, "distribution"));
    *distribution = make_handle<tessera_distribution>(job_of(matrix), asked.row_distribution());
    return {};
  });
}

int tessera_sparse_column_distribution(const tessera_sparse* matrix,
                                       tessera_distribution** distribution) {
  return on_sparse(__func__, matrix, [&](const auto& asked) -> Status {
    TESSERA_RETURN_IF_ERROR(required(distribution, "distribution"));
    *distribution = make_handle<tessera_distribution>(job_of(matrix), asked.column_distribution());
    return {};
  });
}

int tessera_sparse_column_blocks(const tessera_sparse* matrix, int64_t capacity, int64_t members[],
                                 int64_t* count) {
  return on_sparse(__func__, matrix,
                   [&](auto& asked) { return give_blocks(asked, capacity, members, count); });
}

int tessera_sparse_summarise(const tessera_sparse* matrix, tessera_sparse_summary* summary) {
  return on_sparse(__func__, matrix, [&](auto& asked) { return summarise(asked, summary); });
}

int tessera_sparse_summary_text(const tessera_sparse* matrix, char* text, int64_t capacity,
                                int64_t* length) {
  return on_sparse(__func__, matrix,
                   [&](auto& asked) { return summarise_as_text(asked, text, capacity, length); });
}

int tessera_sparse_get(const tessera_sparse* matrix, const int64_t lo[], const int64_t hi[],
                       int64_t capacity, int64_t row_starts[], int64_t columns[], void* values,
                       int64_t* entries) {
  return on_sparse(__func__, matrix, [&](auto& asked) {
    return get(asked, lo, hi, {capacity, row_starts, columns, values, entries});
  });
}

int tessera_sparse_rows_begin(const tessera_sparse* matrix, tessera_sparse_block* block,
                              tessera_sparse_rows** rows) {
  return on_sparse(__func__, matrix,
                   [&](auto& asked) { return begin_rows(job_of(matrix), asked, block, rows); });
}

int tessera_sparse_rows_end(tessera_sparse_rows** rows) {
  return call(__func__, [&] {
    return free_handle(
        rows, [](auto& any) { return std::visit([](auto& own) { return own.end(); }, any); });
  });
}

int tessera_sparse_sync(const tessera_sparse* matrix) {
  return on_sparse(__func__, matrix, [](auto& all) { return all.sync(); });
}

int tessera_sparse_get_diagonal(const tessera_sparse* matrix, const tessera_array* diagonal) {
  return on_sparse_with(__func__, matrix, std::array{diagonal}, [](auto& from, const auto& arrays) {
    return linalg::get_diagonal(from, *arrays[0]);
  });
}

int tessera_sparse_get_column(const tessera_sparse* matrix, int64_t column,
                              const tessera_array* result) {
  return on_sparse_with(__func__, matrix, std::array{result}, [&](auto& from, const auto& arrays) {
    return linalg::get_column(from, column, *arrays[0]);
  });
}

int tessera_sparse_shift_diagonal(const tessera_sparse* matrix, const void* shift) {
  return on_sparse(__func__, matrix, [&]<class T>(SparseMatrix<T>& all) -> Status {
    TESSERA_RETURN_IF_ERROR(report_to_team(all.team(), required(shift, "number")));
    return linalg::shift_diagonal(all, number<T>(shift));
  });
}

int tessera_sparse_scale(const tessera_sparse* matrix, const void* factor) {
  return on_sparse(__func__, matrix, [&]<class T>(SparseMatrix<T>& all) -> Status {
    TESSERA_RETURN_IF_ERROR(report_to_team(all.team(), required(factor, "number")));
    return linalg::scale(all, number<T>(factor));
  });
}

int tessera_sparse_scale_rows(const tessera_sparse* matrix, const tessera_array* factors) {
  return on_sparse_with(__func__, matrix, std::array{factors}, [](auto& all, const auto& arrays) {
    return linalg::scale_rows(all, *arrays[0]);
  });
}

int tessera_sparse_scale_columns(const tessera_sparse* matrix, const tessera_array* factors) {
  return on_sparse_with(__func__, matrix, std::array{factors}, [](auto& all, const auto& arrays) {
    return linalg::scale_columns(all, *arrays[0]);
  });
}

int tessera_sparse_to_dense(const tessera_sparse* matrix, const tessera_array* dense) {
  return on_sparse_with(__func__, matrix, std::array{dense}, [](auto& from, const auto& arrays) {
    return linalg::to_dense(from, *arrays[0]);
  });
}

int tessera_sparse_multiply_dense(const tessera_sparse* a, const tessera_array* b,
                                  const tessera_array* c) {
  return on_sparse_with(__func__, a, std::array{b, c}, [](auto& left, const auto& arrays) {
    return linalg::multiply(left, *arrays[0], *arrays[1]);
  });
}

int tessera_array_multiply_sparse(const tessera_array* a, const tessera_sparse* b,
                                  const tessera_array* c) {
  return on_sparse_with(__func__, b, std::array{a, c}, [](auto& right, const auto& arrays) {
    return linalg::multiply(*arrays[0], right, *arrays[1]);
  });
}

}  // extern "C"

}  // namespace tessera::capi
