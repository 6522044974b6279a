// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/spmv.hpp"

#include <array>
#include <memory>
#include <utility>
#include <variant>

#include "fortran/c/sparse.h"
#include "fortran/detail/arguments.hpp"
#include "fortran/detail/sparse.hpp"

namespace tessera::capi {
namespace {

using linalg::SpmvMode;
using linalg::SpmvOptions;
using linalg::SpmvPlan;
using rma::Code;
using rma::Result;
using rma::Status;

static_assert(static_cast<int>(SpmvMode::plain) == TESSERA_SPMV_PLAIN);
static_assert(static_cast<int>(SpmvMode::vector) == TESSERA_SPMV_VECTOR);
static_assert(static_cast<int>(SpmvMode::aggregate) == TESSERA_SPMV_AGGREGATE);
static_assert(static_cast<int>(SpmvMode::single) == TESSERA_SPMV_SINGLE);
static_assert(static_cast<int>(SpmvMode::push) == TESSERA_SPMV_PUSH);

Result<SpmvOptions> convert(const tessera_spmv_options* given) {
  TESSERA_ASSIGN_OR_RETURN(
      const tessera_spmv_options options,
      options_of(given, tessera_spmv_options_init, "tessera_spmv_options_init"));
  TESSERA_RETURN_IF_ERROR(check_choice(options.mode, TESSERA_SPMV_PUSH + 1, "mode of reading"));
  return SpmvOptions{.mode = static_cast<SpmvMode>(options.mode),
                     .share_memory = options.through_network == 0,
                     .narrow_indices = options.wide_indices == 0,
                     .neighbours_only = options.neighbours_only != 0};
}

/// The plan, for a matrix of this type. Collective over the matrix's team if it has another type.
template <class T>
Result<SpmvPlan<T>*> plan_for(const tessera_spmv* handle, const SparseMatrix<T>& matrix) {
  const auto contents = open(handle);
  SpmvPlan<T>* const plan = contents.ok() ? std::get_if<SpmvPlan<T>>(*contents) : nullptr;
  Status mine = contents.status();
  if (mine.ok() && plan == nullptr) {
    mine = Status::error(Code::invalid_argument,
                         "the plan has another element type than " + matrix.describe());
  }
  TESSERA_RETURN_IF_ERROR(report_to_team(matrix.team(), std::move(mine)));
  return plan;
}

template <class T, class Arrays>
Status create(tessera_job* job, SparseMatrix<T>& matrix, const Arrays& arrays,
              const tessera_spmv_options* given, tessera_spmv** result) {
  const auto options = convert(given);
  TESSERA_RETURN_IF_ERROR(
      report_to_team(matrix.team(), options.ok() ? required(result, "plan") : options.status()));
  TESSERA_ASSIGN_OR_RETURN(auto plan,
                           SpmvPlan<T>::create(matrix, *arrays[0], *arrays[1], *options));
  *result = make_handle<tessera_spmv>(job, std::make_unique<AnyPlan>(std::move(plan)),
                                      "plan of products with " + matrix.name());
  return {};
}

}  // namespace

extern "C" {

int tessera_spmv_create(const tessera_sparse* matrix, const tessera_array* x,
                        const tessera_array* y, const tessera_spmv_options* options,
                        tessera_spmv** plan) {
  return on_sparse_with(__func__, matrix, std::array{x, y}, [&](auto& a, const auto& arrays) {
    return create(job_of(matrix), a, arrays, options, plan);
  });
}

int tessera_spmv_multiply(const tessera_spmv* plan, const tessera_sparse* matrix,
                          const tessera_array* x, const tessera_array* y) {
  return on_sparse_with(__func__, matrix, std::array{x, y},
                        [&](auto& a, const auto& arrays) -> Status {
                          TESSERA_ASSIGN_OR_RETURN(auto* const fitting, plan_for(plan, a));
                          return fitting->multiply(a, *arrays[0], *arrays[1]);
                        });
}

int tessera_spmv_multiply_transposed(const tessera_spmv* plan, const tessera_sparse* matrix,
                                     const tessera_array* y, const tessera_array* x) {
  return on_sparse_with(__func__, matrix, std::array{y, x},
                        [&](auto& a, const auto& arrays) -> Status {
                          TESSERA_ASSIGN_OR_RETURN(auto* const fitting, plan_for(plan, a));
                          return fitting->multiply_transposed(a, *arrays[0], *arrays[1]);
                        });
}

int tessera_spmv_reads(const tessera_spmv* plan, int64_t* from_others, int64_t* shared,
                       int64_t* rows_without) {
  return call_on(__func__, plan, [&](const AnyPlan& any) {
    return std::visit(
        [&](const auto& asked) -> Status {
          set_if_given(asked.elements_from_others(), from_others);
          set_if_given(asked.elements_shared(), shared);
          set_if_given(asked.rows_without_others(), rows_without);
          return {};
        },
        any);
  });
}

int tessera_spmv_free(tessera_spmv** plan) {
  return call(__func__, [&] { return free_handle(plan, [](AnyPlan&) { return Status(); }); });
}

}  // extern "C"

}  // namespace tessera::capi
