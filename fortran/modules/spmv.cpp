// SPDX-License-Identifier: BSD-3-Clause
#include <array>

#include "fortran/c/sparse.h"
#include "fortran/detail/cells.hpp"
#include "fortran/detail/fortran_sparse.hpp"

namespace tessera::fapi {
namespace {

using rma::Status;

/// Options of plans; the module has the same structure.
struct SpmvChoice {
  int mode;
  int through_network;
  int wide_indices;
  int neighbours_only;
};

tessera_spmv_options options_of(const SpmvChoice& choice) {
  tessera_spmv_options options;
  tessera_spmv_options_init(&options);
  options.mode = choice.mode;
  options.through_network = choice.through_network;
  options.wide_indices = choice.wide_indices;
  options.neighbours_only = choice.neighbours_only;
  return options;
}

}  // namespace

extern "C" {

int tessera_f_spmv_create(Cell** place, const Cell* matrix_cell, const Cell* x_cell,
                          const Cell* y_cell, const SpmvChoice* choice) {
  tessera_sparse* matrix = nullptr;
  std::array<tessera_array*, 2> vectors = {};
  const tessera_spmv_options options = options_of(*choice);
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
  const char* const name =
      is_transposed != 0 ? "tessera_spmv%multiply_transposed" : "tessera_spmv%multiply";
  return run(name, prepare, [&] {
    return is_transposed != 0
               ? tessera_spmv_multiply_transposed(plan, matrix, vectors[0], vectors[1])
               : tessera_spmv_multiply(plan, matrix, vectors[0], vectors[1]);
  });
}

/// Each of the numbers may be null.
int tessera_f_spmv_reads(const Cell* cell, Descriptor* from_others, Descriptor* shared,
                         Descriptor* rows_without) {
  return capi::call("tessera_spmv%reads", [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(const tessera_spmv* const plan, open<tessera_spmv>(cell));
    return std::visit(
        [&](const auto& of) -> Status {
          TESSERA_RETURN_IF_ERROR(
              write_integer(of.elements_from_others(), from_others, "from_others"));
          TESSERA_RETURN_IF_ERROR(write_integer(of.elements_shared(), shared, "shared"));
          return write_integer(of.rows_without_others(), rows_without, "rows_without");
        },
        capi::contents_of(plan));
  });
}

}  // extern "C"

}  // namespace tessera::fapi
