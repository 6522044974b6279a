// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Checks of the operands of matrix operations.
#pragma once

#include <string>
#include <string_view>

#include "linalg/detail/agree_and_begin.hpp"
#include "linalg/detail/matrix_map.hpp"
#include "linalg/matrix_patch.hpp"
#include "rma/base/status.hpp"

namespace tessera::linalg::detail {

template <Scalar T>
MatrixMap map_of(const MatrixPatch<T>& patch) {
  return {&patch.array(), patch.box(), patch.dims().rows, patch.dims().columns};
}

/// "[0,5) x [0,6) of array 'A' (float64, 9 x 9)".
std::string describe(const MatrixMap& map);

/// Local. Checks a matrix that is only read; below, one that is written. Errors: closed,
/// out_of_range, invalid_argument (the dimensions and the box don't select a matrix of the array,
/// or its access mode forbids it).
rma::Status check_source(const MatrixMap& map);
rma::Status check_target(const MatrixMap& map);
/// Local. Errors: invalid_argument unless the matrix has as many rows as columns.
rma::Status check_square(const MatrixMap& map);
/// Local. Errors: invalid_argument if the two matrices share elements.
rma::Status check_apart(const MatrixMap& one, std::string_view one_name, const MatrixMap& other,
                        std::string_view other_name);

/// Adds the identity of a matrix to a request.
void add(CallSignature& signature, const MatrixMap& map);

}  // namespace tessera::linalg::detail
