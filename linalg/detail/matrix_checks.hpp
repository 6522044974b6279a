// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. What operations on matrices ask of their operands before anything else.
#pragma once

#include <string>
#include <string_view>

#include "linalg/detail/begin_together.hpp"
#include "linalg/detail/matrix_map.hpp"
#include "linalg/matrix_patch.hpp"
#include "rma/status.hpp"

namespace tessera::linalg::detail {

template <Scalar T>
MatrixMap map_of(const MatrixPatch<T>& patch) {
  return {&patch.array(), patch.box(), patch.dims().rows, patch.dims().columns};
}

/// "[0,5) x [0,6) of array 'A' (float64, 9 x 9)".
std::string describe(const MatrixMap& map);

/// Local. Of a matrix that is only read, and of one that is written. Errors: closed, out_of_range,
/// invalid_argument unless the dimensions and the box make a matrix of the array, and its access
/// mode allows it.
rma::Status check_source(const MatrixMap& map);
rma::Status check_target(const MatrixMap& map);
/// Local. Errors: invalid_argument unless it has as many rows as columns.
rma::Status check_square(const MatrixMap& map);
/// Local. Errors: invalid_argument when the two share elements.
rma::Status check_apart(const MatrixMap& one, std::string_view one_name, const MatrixMap& other,
                        std::string_view other_name);

/// Adds which matrix it is.
void add(Request& request, const MatrixMap& map);

}  // namespace tessera::linalg::detail
