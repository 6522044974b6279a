// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/detail/matrix_checks.hpp"

#include <fmt/format.h>

#include "arrays/array_base.hpp"

namespace tessera::linalg::detail {

using rma::Code;
using rma::Status;

std::string describe(const MatrixMap& map) {
  return fmt::format("{} of {}", to_string(map.box), map.array->describe());
}

namespace {

Status check_patch(const MatrixMap& map) {
  TESSERA_RETURN_IF_ERROR(map.array->check_open());
  TESSERA_RETURN_IF_ERROR(check_inside(map.box, map.array->extents()).context(describe(map)));
  const int ndims = map.box.ndims();
  if (ndims == 1) {
    return Status::error(Code::invalid_argument, describe(map) + " is a vector, not a matrix")
        .hint("make it n x 1, a matrix of one column");
  }
  const auto is_dim = [&](int dim) { return dim >= 0 && dim < ndims; };
  if (!is_dim(map.row_dim) || !is_dim(map.column_dim) || map.row_dim == map.column_dim) {
    return Status::error(
               Code::invalid_argument,
               fmt::format("{}: rows along dimension {} and columns along {} do not make a "
                           "matrix of {} dimensions",
                           describe(map), map.row_dim, map.column_dim, ndims))
        .hint(
            "MatrixDims must name two different dimensions; the others must have extent 1 in the "
            "box");
  }
  for (int dim = 0; dim < ndims; ++dim) {
    if (dim != map.row_dim && dim != map.column_dim && map.box.extent(dim) != 1) {
      return Status::error(
                 Code::invalid_argument,
                 fmt::format("{}: dimension {} is neither the one of rows ({}) nor of "
                             "columns ({}), but has extent {} in the box",
                             describe(map), dim, map.row_dim, map.column_dim, map.box.extent(dim)))
          .hint("give a box with extent 1 there, one for each matrix");
    }
  }
  return {};
}

}  // namespace

Status check_source(const MatrixMap& map) {
  TESSERA_RETURN_IF_ERROR(check_patch(map));
  return map.array->check_readable().context(describe(map));
}

Status check_target(const MatrixMap& map) {
  TESSERA_RETURN_IF_ERROR(check_patch(map));
  return map.array->check_writable().context(describe(map));
}

Status check_square(const MatrixMap& map) {
  if (map.rows() == map.columns()) {
    return {};
  }
  return Status::error(
      Code::invalid_argument,
      fmt::format("{} is {} x {}, not square", describe(map), map.rows(), map.columns()));
}

Status check_apart(const MatrixMap& one, std::string_view one_name, const MatrixMap& other,
                   std::string_view other_name) {
  if (!arrays::share_memory(*one.array, one.box, *other.array, other.box)) {
    return {};
  }
  const std::string shared =
      arrays::is_same_layout(*one.array, *other.array)
          ? fmt::format("{} and {} share {} of {}: {} is {}, {} is {}", one_name, other_name,
                        to_string(intersect(one.box, other.box)), one.array->describe(), one_name,
                        to_string(one.box), other_name, to_string(other.box))
          : fmt::format("{} and {} are arrays in the same memory: {} is {}, {} is {}", one_name,
                        other_name, one_name, describe(one), other_name, describe(other));
  return Status::error(Code::invalid_argument, shared).hint("copy one of them into another array");
}

void add(CallSignature& signature, const MatrixMap& map) {
  signature.add(*map.array, map.box).add(map.row_dim).add(map.column_dim);
}

}  // namespace tessera::linalg::detail
