// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/c_sparse.h"

#include <fmt/format.h>

#include <optional>

#include "fortran/detail/arguments.hpp"
#include "fortran/detail/cells.hpp"
#include "fortran/detail/collective.hpp"
#include "fortran/detail/descriptors.hpp"
#include "fortran/detail/sparse.hpp"

namespace tessera::fapi {
namespace {

using rma::Code;
using rma::Status;

/// Numbers of rows or columns, from 1, as C has them.
Status take_places(const Descriptor* given, std::int64_t most, std::string_view what,
                   Numbers& places) {
  TESSERA_ASSIGN_OR_RETURN(places, integers(given, what));
  for (std::int64_t& place : places) {
    if (place < 1 || place > most) {
      return Status::error(Code::out_of_range,
                           fmt::format("{} has {}; there are 1 to {}", what, place, most));
    }
    --place;
  }
  return {};
}

Status check_kind(std::int64_t type, const Descriptor* given, std::string_view what) {
  TESSERA_ASSIGN_OR_RETURN(const auto kind, capi::element_kind(type));
  return check_elements(kind, given, what);
}

/// The transpose of a matrix, while a call needs it: dense arrays are turned around for C.
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

}  // namespace

extern "C" {

int tessera_f_sparse_builder_create(Cell** place, const Cell* job_cell, int64_t element,
                                    int64_t rows, int64_t columns, const char* name,
                                    const Cell* team_cell) {
  tessera_job* job = nullptr;
  tessera_sparse_options options;
  tessera_sparse_options_init(&options);
  options.name = name;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(job, open<tessera_job>(job_cell));
    if (team_cell != nullptr) {
      TESSERA_ASSIGN_OR_RETURN(options.team, open<tessera_team>(team_cell));
    }
    return {};
  };
  return make<tessera_sparse_builder, tessera_sparse_builder_free>(
      "tessera_sparse_builder%create", place, job_cell, prepare,
      [&](tessera_sparse_builder** builder) {
        return tessera_sparse_builder_create(job, element, rows, columns, &options, builder);
      });
}

/// Of a matrix with these rows, columns and elements.
int tessera_f_sparse_builder_add(const Cell* cell, const int64_t* shape, int64_t element,
                                 const Descriptor* rows, const Descriptor* columns,
                                 const Descriptor* values) {
  tessera_sparse_builder* builder = nullptr;
  Numbers row;
  Numbers column;
  std::optional<Dense> local;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(builder, open<tessera_sparse_builder>(cell));
    TESSERA_RETURN_IF_ERROR(take_places(rows, shape[0], "rows", row));
    TESSERA_RETURN_IF_ERROR(take_places(columns, shape[1], "columns", column));
    TESSERA_RETURN_IF_ERROR(check_kind(element, values, "values"));
    local.emplace(*values);
    if (row.size() != column.size() || std::ssize(row) != local->count()) {
      return Status::error(Code::invalid_argument,
                           fmt::format("{} rows, {} columns and {} values", row.size(),
                                       column.size(), local->count()));
    }
    return {};
  };
  return run("tessera_sparse_builder%add", prepare, [&] {
    return tessera_sparse_builder_add_list(builder, std::ssize(row), row.data(), column.data(),
                                           local->data());
  });
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

int tessera_f_sparse_from_dense(Cell** place, const Cell* dense_cell, double threshold) {
  tessera_array* dense = nullptr;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(dense, open<tessera_array>(dense_cell));
    return {};
  };
  return make<tessera_sparse, tessera_sparse_free>(
      "tessera_sparse%from_dense", place, dense_cell, prepare, [&](tessera_sparse** matrix) {
        tessera_sparse* turned = nullptr;
        if (const int code = tessera_sparse_from_dense(dense, threshold, nullptr, &turned);
            code != TESSERA_OK) {
          return code;
        }
        const int code = tessera_sparse_transpose(turned, nullptr, matrix);
        const int freed = tessera_sparse_free(&turned);
        return code != TESSERA_OK ? code : freed;
      });
}

int tessera_f_sparse_transpose(Cell** place, const Cell* of_cell) {
  tessera_sparse* of = nullptr;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(of, open<tessera_sparse>(of_cell));
    return {};
  };
  return make<tessera_sparse, tessera_sparse_free>(
      "tessera_sparse%transpose", place, of_cell, prepare,
      [&](tessera_sparse** matrix) { return tessera_sparse_transpose(of, nullptr, matrix); });
}

int tessera_f_sparse_multiply(Cell** place, const Cell* a_cell, const Cell* b_cell) {
  tessera_sparse* a = nullptr;
  tessera_sparse* b = nullptr;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(a, open<tessera_sparse>(a_cell));
    TESSERA_ASSIGN_OR_RETURN(b, open<tessera_sparse>(b_cell));
    return {};
  };
  return make<tessera_sparse, tessera_sparse_free>(
      "tessera_sparse%multiply", place, a_cell, prepare,
      [&](tessera_sparse** product) { return tessera_sparse_multiply(a, b, nullptr, product); });
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

/// c = a b: for C, the transposed c is the transposed b times the transposed a.
int tessera_f_sparse_multiply_dense(const Cell* cell, const Cell* b_cell, const Cell* c_cell) {
  tessera_sparse* matrix = nullptr;
  tessera_array* b = nullptr;
  tessera_array* c = nullptr;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(matrix, open<tessera_sparse>(cell));
    TESSERA_ASSIGN_OR_RETURN(b, open<tessera_array>(b_cell));
    TESSERA_ASSIGN_OR_RETURN(c, open<tessera_array>(c_cell));
    return {};
  };
  return run("tessera_sparse%multiply_dense", prepare, [&] {
    return with_transpose(matrix, [&](tessera_sparse* turned) {
      return tessera_array_multiply_sparse(b, turned, c);
    });
  });
}

int tessera_f_sparse_number(const Cell* cell, int is_shift, const Descriptor* number) {
  tessera_sparse* matrix = nullptr;
  const char* const name = is_shift != 0 ? "tessera_sparse%shift_diagonal" : "tessera_sparse%scale";
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(matrix, open<tessera_sparse>(cell));
    tessera_type type = 0;
    if (tessera_sparse_type(matrix, &type) != TESSERA_OK) {
      return Status::error(Code::internal, "the matrix has no type");
    }
    return check_kind(type, number, "the number");
  };
  return run(name, prepare, [&] {
    return is_shift != 0 ? tessera_sparse_shift_diagonal(matrix, number->base_addr)
                         : tessera_sparse_scale(matrix, number->base_addr);
  });
}

/// 0: the diagonal to a vector; 1 and 2: rows and columns times a vector's elements.
int tessera_f_sparse_vector(const Cell* cell, int op, const Cell* vector_cell) {
  tessera_sparse* matrix = nullptr;
  tessera_array* vector = nullptr;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(matrix, open<tessera_sparse>(cell));
    TESSERA_ASSIGN_OR_RETURN(vector, open<tessera_array>(vector_cell));
    return {};
  };
  return run("tessera_sparse", prepare, [&] {
    return op == 0   ? tessera_sparse_get_diagonal(matrix, vector)
           : op == 1 ? tessera_sparse_scale_rows(matrix, vector)
                     : tessera_sparse_scale_columns(matrix, vector);
  });
}

int tessera_f_spmv_create(Cell** place, const Cell* matrix_cell, const Cell* x_cell,
                          const Cell* y_cell, int neighbours_only) {
  tessera_sparse* matrix = nullptr;
  std::array<tessera_array*, 2> vectors = {};
  tessera_spmv_options options;
  tessera_spmv_options_init(&options);
  options.neighbours_only = neighbours_only;
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(matrix, open<tessera_sparse>(matrix_cell));
    TESSERA_ASSIGN_OR_RETURN(vectors[0], open<tessera_array>(x_cell));
    TESSERA_ASSIGN_OR_RETURN(vectors[1], open<tessera_array>(y_cell));
    return {};
  };
  return make<tessera_spmv, tessera_spmv_free>(
      "tessera_spmv%create", place, matrix_cell, prepare, [&](tessera_spmv** plan) {
        return tessera_spmv_create(matrix, vectors[0], vectors[1], &options, plan);
      });
}

int tessera_f_spmv_multiply(const Cell* cell, int is_transposed, const Cell* matrix_cell,
                            const Cell* from_cell, const Cell* to_cell) {
  tessera_spmv* plan = nullptr;
  tessera_sparse* matrix = nullptr;
  std::array<tessera_array*, 2> vectors = {};
  const auto prepare = [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(plan, open<tessera_spmv>(cell));
    TESSERA_ASSIGN_OR_RETURN(matrix, open<tessera_sparse>(matrix_cell));
    TESSERA_ASSIGN_OR_RETURN(vectors[0], open<tessera_array>(from_cell));
    TESSERA_ASSIGN_OR_RETURN(vectors[1], open<tessera_array>(to_cell));
    return {};
  };
  return run("tessera_spmv%multiply", prepare, [&] {
    return is_transposed != 0
               ? tessera_spmv_multiply_transposed(plan, matrix, vectors[0], vectors[1])
               : tessera_spmv_multiply(plan, matrix, vectors[0], vectors[1]);
  });
}

}  // extern "C"

}  // namespace tessera::fapi
