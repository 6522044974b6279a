// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/c/sparse.h"

#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "fortran/detail/arguments.hpp"
#include "fortran/detail/operands.hpp"
#include "fortran/detail/sparse.hpp"
#include "linalg/count_sketch.hpp"
#include "linalg/sparse_convert.hpp"
#include "linalg/sparse_product.hpp"

namespace tessera::capi {
namespace {

using linalg::LocalCsr;
using linalg::SparseBuilder;
using linalg::SparseOptions;
using linalg::Triplet;
using rma::Result;
using rma::Status;

/// Arguments of a new matrix, checked before the team communicates.
struct CreateSparseArguments {
  tessera_job* job;
  tessera_type type;
  const tessera_sparse_options* options;
  void* result;
};

/// The options with their team; `first_error` is an error found before. Collective over that team
/// if there is an error.
Result<SparseOptions> sparse_request_of(const CreateSparseArguments& arguments,
                                        Status first_error) {
  TESSERA_ASSIGN_OR_RETURN(rma::Team team, team_of(arguments.job, arguments.options));
  auto options = convert_sparse(arguments.options);
  for (const Status& wrong : {check_sparse_type(arguments.type), options.status(),
                              required(arguments.result, "matrix")}) {
    if (first_error.ok()) {
      first_error = wrong;
    }
  }
  TESSERA_RETURN_IF_ERROR(report_to_team(team, std::move(first_error)));
  options->team = std::move(team);
  return options;
}

Status make_builder(const CreateSparseArguments& arguments, std::int64_t rows, std::int64_t columns,
                    tessera_sparse_builder** result) {
  TESSERA_ASSIGN_OR_RETURN(const SparseOptions options, sparse_request_of(arguments, Status()));
  return with_sparse_type(arguments.type, [&]<class T>(Tag<T>) -> Status {
    TESSERA_ASSIGN_OR_RETURN(
        auto builder, SparseBuilder<T>::create(*arguments.job->contents, rows, columns, options));
    *result = make_handle<tessera_sparse_builder>(
        arguments.job,
        std::make_unique<BuilderContents>(BuilderContents{*options.team, std::move(builder)}),
        "builder of sparse matrix '" + options.name + "'");
    return {};
  });
}

/// A list of entries from C.
struct EntryList {
  std::int64_t count;
  const std::int64_t* rows;
  const std::int64_t* columns;
  const void* values;
};

template <class T>
Status add_list(SparseBuilder<T>& builder, const EntryList& list) {
  TESSERA_RETURN_IF_ERROR(check_count(list.count, "entries"));
  if (list.count > 0) {
    TESSERA_RETURN_IF_ERROR(required(list.rows, "rows"));
    TESSERA_RETURN_IF_ERROR(required(list.columns, "columns"));
    TESSERA_RETURN_IF_ERROR(required(list.values, "values"));
  }
  std::vector<Triplet<T>> entries;
  entries.reserve(static_cast<std::size_t>(list.count));
  for (std::int64_t i = 0; i < list.count; ++i) {
    entries.push_back({list.rows[i], list.columns[i], static_cast<const T*>(list.values)[i]});
  }
  return builder.add(entries);
}

/// Calls `act`, which takes a SparseBuilder<T>& and returns a Status, with a builder.
template <class Act>
int on_builder(const char* function, const tessera_sparse_builder* handle, const Act& act) {
  return call_on(function, handle, [&](BuilderContents& contents) {
    return std::visit([&](auto& builder) -> Status { return act(builder); }, contents.builder);
  });
}

/// Own rows from C.
struct OwnRows {
  std::int64_t rows;
  std::int64_t columns;
  const std::int64_t* row_starts;
  const std::int64_t* column;
  const void* values;
};

Status check_own(const OwnRows& own) {
  TESSERA_RETURN_IF_ERROR(check_count(own.rows, "rows"));
  if (own.rows == 0) {
    return {};
  }
  TESSERA_RETURN_IF_ERROR(required(own.row_starts, "starts of rows"));
  const std::int64_t entries = own.row_starts[own.rows];
  TESSERA_RETURN_IF_ERROR(check_count(entries, "entries"));
  if (entries > 0) {
    TESSERA_RETURN_IF_ERROR(required(own.column, "columns"));
    TESSERA_RETURN_IF_ERROR(required(own.values, "values"));
  }
  return {};
}

/// Requires: check_own(own) is ok.
template <class T>
LocalCsr<T> copy_of(const OwnRows& own) {
  LocalCsr<T> rows;
  rows.rows = own.rows;
  rows.columns = own.columns;
  if (own.rows > 0) {
    const std::int64_t entries = own.row_starts[own.rows];
    const auto* const values = static_cast<const T*>(own.values);
    rows.row_starts.assign(own.row_starts, own.row_starts + own.rows + 1);
    rows.column.assign(own.column, own.column + entries);
    rows.value.assign(values, values + entries);
  }
  return rows;
}

Status make_from_rows(const CreateSparseArguments& arguments, const OwnRows& own,
                      tessera_sparse** result) {
  TESSERA_ASSIGN_OR_RETURN(const SparseOptions options,
                           sparse_request_of(arguments, check_own(own)));
  return with_sparse_type(arguments.type, [&]<class T>(Tag<T>) {
    return give_sparse(arguments.job,
                       SparseMatrix<T>::create(*arguments.job->contents, copy_of<T>(own), options),
                       result);
  });
}

Status make_from_dense(const tessera_array* handle, double threshold,
                       const tessera_sparse_options* given, tessera_sparse** result) {
  TESSERA_ASSIGN_OR_RETURN(arrays::ArrayBase* const dense, open_array(handle));
  const auto options = convert_sparse(given);
  Status first_error = required(result, "matrix");
  for (const Status& wrong : {options.status(), check_sparse_type(c_type(dense->element()))}) {
    if (first_error.ok()) {
      first_error = wrong;
    }
  }
  TESSERA_RETURN_IF_ERROR(report_to_team(dense->team(), std::move(first_error)));
  return with_sparse_type(c_type(dense->element()), [&]<class T>(Tag<T>) {
    return give_sparse(
        job_of(handle),
        linalg::from_dense(static_cast<arrays::Array<T>&>(*dense), *options, threshold), result);
  });
}

/// Calls `act`, which takes a SparseMatrix<T>& and options, to make a matrix of the same type.
template <class Act>
int make_like(const char* function, const tessera_sparse* handle,
              const tessera_sparse_options* given, tessera_sparse** result, const Act& act) {
  return on_sparse(function, handle, [&]<class T>(SparseMatrix<T>& matrix) -> Status {
    const auto options = convert_sparse(given);
    TESSERA_RETURN_IF_ERROR(report_to_team(
        matrix.team(), options.ok() ? required(result, "matrix") : options.status()));
    return give_sparse(job_of(handle), act(matrix, *options), result);
  });
}

template <class T>
Status multiply(tessera_job* job, SparseMatrix<T>& a, const tessera_sparse* right, const char* name,
                tessera_sparse** result) {
  const auto other = open(right);
  SparseMatrix<T>* const b = other.ok() ? std::get_if<SparseMatrix<T>>(*other) : nullptr;
  Status first_error = other.ok() ? required(result, "matrix") : other.status();
  if (first_error.ok() && b == nullptr) {
    first_error = Status::error(
        rma::Code::invalid_argument,
        a.describe() + " cannot be multiplied by a matrix with elements of another type");
  }
  TESSERA_RETURN_IF_ERROR(report_to_team(a.team(), std::move(first_error)));
  return give_sparse(job, linalg::multiply(a, *b, name_or_unnamed(name)), result);
}

}  // namespace

extern "C" {

int tessera_sparse_builder_create(tessera_job* job, tessera_type type, int64_t rows,
                                  int64_t columns, const tessera_sparse_options* options,
                                  tessera_sparse_builder** builder) {
  return call(__func__, [&] {
    return make_builder({job, type, options, builder}, rows, columns, builder);
  });
}

int tessera_sparse_builder_add(tessera_sparse_builder* builder, int64_t row, int64_t column,
                               const void* value) {
  return on_builder(__func__, builder, [&]<class T>(SparseBuilder<T>& entries) -> Status {
    TESSERA_RETURN_IF_ERROR(required(value, "value"));
    return entries.add(row, column, number<T>(value));
  });
}

int tessera_sparse_builder_add_list(tessera_sparse_builder* builder, int64_t count,
                                    const int64_t rows[], const int64_t columns[],
                                    const void* values) {
  return on_builder(__func__, builder, [&](auto& entries) {
    return add_list(entries, {count, rows, columns, values});
  });
}

int tessera_sparse_builder_reserve(tessera_sparse_builder* builder, int64_t entries) {
  return on_builder(__func__, builder, [&](auto& all) -> Status {
    TESSERA_RETURN_IF_ERROR(check_count(entries, "entries"));
    all.reserve(entries);
    return {};
  });
}

int tessera_sparse_builder_added(const tessera_sparse_builder* builder, int64_t* entries) {
  return on_builder(__func__, builder, [&](const auto& all) -> Status {
    TESSERA_RETURN_IF_ERROR(required(entries, "result"));
    *entries = all.added();
    return {};
  });
}

int tessera_sparse_builder_assemble(tessera_sparse_builder* builder, tessera_sparse** matrix) {
  return on_builder(__func__, builder, [&](auto& entries) -> Status {
    TESSERA_RETURN_IF_ERROR(report_to_team(contents_of(builder).team, required(matrix, "matrix")));
    return give_sparse(job_of(builder), entries.assemble(), matrix);
  });
}

int tessera_sparse_builder_free(tessera_sparse_builder** builder) {
  return call(__func__,
              [&] { return free_handle(builder, [](BuilderContents&) { return Status(); }); });
}

int tessera_sparse_create(tessera_job* job, tessera_type type, int64_t rows, int64_t columns,
                          const int64_t row_starts[], const int64_t column[], const void* values,
                          const tessera_sparse_options* options, tessera_sparse** matrix) {
  return call(__func__, [&] {
    return make_from_rows({job, type, options, matrix}, {rows, columns, row_starts, column, values},
                          matrix);
  });
}

int tessera_sparse_from_dense(const tessera_array* dense, double threshold,
                              const tessera_sparse_options* options, tessera_sparse** matrix) {
  return call(__func__, [&] { return make_from_dense(dense, threshold, options, matrix); });
}

int tessera_sparse_duplicate(const tessera_sparse* matrix, const char* name,
                             tessera_sparse** copy) {
  return make_like(__func__, matrix, nullptr, copy, [&](auto& original, const SparseOptions&) {
    return original.duplicate(name_or_unnamed(name));
  });
}

int tessera_sparse_transpose(const tessera_sparse* matrix, const tessera_sparse_options* options,
                             tessera_sparse** transposed) {
  return make_like(__func__, matrix, options, transposed,
                   [](auto& original, const SparseOptions& chosen) {
                     return linalg::transpose(original, chosen);
                   });
}

int tessera_sparse_count_sketch(const tessera_sparse* matrix, int64_t buckets, uint64_t seed,
                                int of_columns, const tessera_sparse_options* options,
                                tessera_sparse** sketch) {
  const auto side = of_columns != 0 ? linalg::SketchSide::columns : linalg::SketchSide::rows;
  return make_like(__func__, matrix, options, sketch,
                   [&](auto& original, const SparseOptions& chosen) {
                     return linalg::count_sketch(original, buckets, {seed, side, chosen});
                   });
}

int tessera_sparse_multiply(const tessera_sparse* a, const tessera_sparse* b, const char* name,
                            tessera_sparse** product) {
  return on_sparse(__func__, a,
                   [&](auto& left) { return multiply(job_of(a), left, b, name, product); });
}

int tessera_sparse_free(tessera_sparse** matrix) {
  return call(__func__, [&] {
    return free_handle(matrix, [](AnySparse& any) {
      return std::visit([](auto& held) { return held.free(); }, any);
    });
  });
}

}  // extern "C"

}  // namespace tessera::capi
