// SPDX-License-Identifier: BSD-3-Clause
//
// What linear algebra shares: records as matrices of a known type, and GA's letters.
#pragma once

#include <fmt/format.h>

#include "arrays/array.hpp"
#include "fortran/ga/dispatch.hpp"
#include "linalg/gemm.hpp"
#include "linalg/matrix_patch.hpp"
#include "linalg/method.hpp"
#include "rma/element.hpp"

namespace tessera::ga {

/// Requires: the record is allocated and has this element type.
template <class T>
arrays::Array<T>& array_of(const Record& record) {
  return static_cast<arrays::Array<T>&>(record.array());
}
/// A box of an array, or all of a 2-D one, as Fortran sees it. Requires: as array_of().
template <class T>
linalg::MatrixPatch<T> matrix_of(const Record& record, const Box& box) {
  return {array_of<T>(record), box, fortran_view};
}
template <class T>
linalg::MatrixPatch<T> matrix_of(const Record& record) {
  return matrix_of<T>(record, record.box());
}

/// Errors: invalid_argument for another element type.
template <class T>
Status check_elements(const Record& record) {
  const auto& type = record.array().element().type;
  return type == rma::element_type<T>()
             ? Status()
             : Status::error(Code::invalid_argument,
                             fmt::format("{} has elements of type {}, but this function is for {}",
                                         record.describe(), to_string(record.type()),
                                         rma::to_string(rma::element_type<T>())));
}

/// Errors: invalid_argument unless the array has two dimensions.
inline Status check_plane(const Record& record) {
  return record.ndims() == 2 ? Status()
                             : Status::error(Code::invalid_argument,
                                             fmt::format("{} has {} dimensions, but a matrix has 2",
                                                         record.describe(), record.ndims()));
}
/// Errors: also invalid_argument unless it is square and has elements of type T.
template <class T>
Status check_square(const Record& record) {
  TESSERA_RETURN_IF_ERROR(check_plane(record));
  TESSERA_RETURN_IF_ERROR(check_elements<T>(record));
  const Extents& extents = record.extents();
  return extents[0] == extents[1]
             ? Status()
             : Status::error(Code::invalid_argument,
                             fmt::format("{} is {} x {}, but must be square", record.describe(),
                                         extents[1], extents[0]));
}

/// 'n', 't' or 'c'. Errors: invalid_argument.
inline Result<linalg::MatrixOp> op_of(char trans) {
  switch (trans) {
    case 'n':
    case 'N':
      return linalg::MatrixOp::none;
    case 't':
    case 'T':
      return linalg::MatrixOp::transpose;
    case 'c':
    case 'C':
      return linalg::MatrixOp::conjugate_transpose;
    default:
      return Status::error(
          Code::invalid_argument,
          fmt::format("the letter of a transposition is n, t or c, not '{}'", trans));
  }
}

/// 'l' or 'u'. Errors: invalid_argument.
inline Result<linalg::Triangle> triangle_of(char letter) {
  switch (letter) {
    case 'l':
    case 'L':
      return linalg::Triangle::lower;
    case 'u':
    case 'U':
      return linalg::Triangle::upper;
    default:
      return Status::error(Code::invalid_argument,
                           fmt::format("the letter of a triangle is l or u, not '{}'", letter));
  }
}

}  // namespace tessera::ga
