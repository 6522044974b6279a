// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/detail/matrices.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "fortran/detail/arguments.hpp"
#include "fortran/detail/collective.hpp"
#include "fortran/detail/handles.hpp"

namespace tessera::capi {

using arrays::ArrayBase;
using rma::Code;
using rma::ElementType;
using rma::Status;

namespace {

bool is_scalar(const ArrayBase& array) {
  const auto& type = array.element().type;
  return type && (rma::is_complex(*type) || *type == ElementType::f32 || *type == ElementType::f64);
}

Status check_scalar_type(const ArrayBase& first, const ArrayBase& other) {
  if (!is_scalar(other)) {
    return Status::error(
               Code::invalid_argument,
               other.describe() + " has elements of a type that linear algebra does not support")
        .hint("use TESSERA_F32, TESSERA_F64, TESSERA_C64 or TESSERA_C128");
  }
  if (first.element().type != other.element().type) {
    return Status::error(Code::invalid_argument, first.describe() + " and " + other.describe() +
                                                     " have elements of different types");
  }
  return {};
}

/// The library reports an invalid dimension; none is as large as this.
int dim_of(std::int64_t dim) {
  return static_cast<int>(std::clamp<std::int64_t>(dim, -1, arrays::max_dims));
}

Status check_matrix(const ArrayBase& first, const tessera_matrix& given, AnyMatrix& matrix) {
  TESSERA_ASSIGN_OR_RETURN(matrix.array, open_array(given.array));
  TESSERA_ASSIGN_OR_RETURN(matrix.box, box_of(matrix.array->extents(), given.lo, given.hi));
  matrix.dims = {dim_of(given.row_dim), dim_of(given.column_dim)};
  return check_scalar_type(first, *matrix.array);
}

}  // namespace

Status check_operands(std::span<const tessera_matrix> given, Status first_error,
                      std::span<AnyMatrix> matrices) {
  TESSERA_ASSIGN_OR_RETURN(const ArrayBase* const first, open_array(given[0].array));
  for (std::size_t i = 0; i < given.size() && first_error.ok(); ++i) {
    first_error = check_matrix(*first, given[i], matrices[i]);
  }
  return report_to_team(first->team(), std::move(first_error));
}

}  // namespace tessera::capi
