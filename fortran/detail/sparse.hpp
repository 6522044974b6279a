// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. The contents of handles of sparse matrices, and access to a matrix and its arrays by
// their element type, which is known only at run time.
//
//     return on_sparse(__func__, handle, [&]<class T>(SparseMatrix<T>& matrix) { … });
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "arrays/array.hpp"
#include "fortran/c/sparse.h"
#include "fortran/detail/call.hpp"
#include "fortran/detail/collective.hpp"
#include "fortran/detail/handles.hpp"
#include "linalg/csr.hpp"
#include "linalg/sparse_builder.hpp"
#include "linalg/spmv.hpp"
#include "rma/base/result.hpp"
#include "rma/element.hpp"
#include "rma/team.hpp"

namespace tessera::capi {

using linalg::SparseMatrix;
using rma::Tag;

/// An object of one of the element types of sparse matrices.
template <template <class> class Thing>
using OfAnyType =
    std::variant<Thing<std::int32_t>, Thing<std::int64_t>, Thing<float>, Thing<double>,
                 Thing<std::complex<float>>, Thing<std::complex<double>>>;
using AnySparse = OfAnyType<SparseMatrix>;

/// Builders do not store their job.
struct BuilderContents {
  rma::Team team;
  OfAnyType<linalg::SparseBuilder> builder;
};
using AnyPlan = OfAnyType<linalg::SpmvPlan>;

template <>
struct ShellOf<tessera_sparse> {
  using Type = Shell<HandleKind::sparse, AnySparse>;
};
template <>
struct ShellOf<tessera_sparse_builder> {
  using Type = Shell<HandleKind::sparse_builder, BuilderContents>;
};
template <>
struct ShellOf<tessera_sparse_rows> {
  using Type = Shell<HandleKind::sparse_rows, OfAnyType<linalg::LocalRows>>;
};
template <>
struct ShellOf<tessera_spmv> {
  using Type = Shell<HandleKind::spmv, AnyPlan>;
};

/// Errors: invalid_argument for a type that sparse matrices do not support.
rma::Status check_sparse_type(tessera_type type);

/// Calls act(Tag<T>()) with the type of this number. Requires: check_sparse_type(type) is ok.
template <class Act>
rma::Status with_sparse_type(tessera_type type, const Act& act) {
  return rma::dispatch(static_cast<rma::ElementType>(type),
                       [&]<class T>(Tag<T> tag) -> rma::Status {
                         if constexpr (linalg::SparseElement<T>) {
                           return act(tag);
                         } else {
                           return rma::Status::error(rma::Code::internal,
                                                     "a type that sparse matrices do not support");
                         }
                       });
}

/// Errors: null and freed handles, which affect only this rank.
rma::Result<rma::Team> team_of(tessera_job* job, const tessera_sparse_options* given);
/// The options except the team.
rma::Result<linalg::SparseOptions> convert_sparse(const tessera_sparse_options* given);

/// The given array, with elements of type T. Errors: another type, and those of handles.
template <class T>
rma::Result<arrays::Array<T>*> array_for(const SparseMatrix<T>& matrix,
                                         const tessera_array* handle) {
  TESSERA_ASSIGN_OR_RETURN(arrays::ArrayBase* const array, open_array(handle));
  if (array->element().type != rma::element_type<T>()) {
    return rma::Status::error(
        rma::Code::invalid_argument,
        array->describe() + " and " + matrix.describe() + " have elements of different types");
  }
  return static_cast<arrays::Array<T>*>(array);
}

/// Calls `act`, which takes a SparseMatrix<T>& and returns a Status, for a matrix.
template <class Act>
int on_sparse(const char* function, const tessera_sparse* handle, const Act& act) noexcept {
  return call_on(function, handle, [&](AnySparse& any) {
    return std::visit([&](auto& matrix) -> rma::Status { return act(matrix); }, any);
  });
}

/// The same with arrays of the matrix's type, by pointers. Collective over its team if one of them
/// has another type; `first_error` is an error found before.
template <std::size_t count, class Act>
int on_sparse_with(const char* function, const tessera_sparse* handle,
                   const std::array<const tessera_array*, count>& given, const Act& act) noexcept {
  return on_sparse(function, handle, [&]<class T>(SparseMatrix<T>& matrix) -> rma::Status {
    std::array<arrays::Array<T>*, count> arrays = {};
    rma::Status first_error;
    for (std::size_t i = 0; i < count && first_error.ok(); ++i) {
      const auto array = array_for(matrix, given[i]);
      first_error = array.status();
      arrays[i] = array.ok() ? *array : nullptr;
    }
    TESSERA_RETURN_IF_ERROR(report_to_team(matrix.team(), std::move(first_error)));
    return act(matrix, arrays);
  });
}

/// A handle for a new matrix.
template <class T>
rma::Status give_sparse(tessera_job* job, rma::Result<SparseMatrix<T>> made,
                        tessera_sparse** result) {
  TESSERA_RETURN_IF_ERROR(made.status());
  const std::string name = "sparse matrix '" + made->name() + "'";
  *result =
      make_handle<tessera_sparse>(job, std::make_unique<AnySparse>(std::move(made).take()), name);
  return {};
}

}  // namespace tessera::capi
