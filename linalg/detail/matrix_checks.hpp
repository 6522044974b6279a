// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. What operations on matrices ask of their operands before anything else.
#pragma once

#include <string>
#include <string_view>

#include "linalg/detail/matrix_map.hpp"
#include "linalg/detail/same_on_all.hpp"
#include "linalg/matrix_patch.hpp"
#include "rma/status.hpp"

namespace tessera::linalg::detail {

template <Scalar T>
MatrixMap map_of(const MatrixPatch<T>& patch) {
  return {&patch.array(), patch.box(), patch.dims().rows, patch.dims().columns};
}

/// "[0,5) x [0,6) of array 'A' (float64, 9 x 9)".
std::string describe(const MatrixMap& map);

/// Local. Errors: closed, out_of_range, invalid_argument unless the dimensions and the box make a
/// matrix of the array.
rma::Status check_patch(const MatrixMap& map);
/// Local. Errors: invalid_argument unless it has as many rows as columns.
rma::Status check_square(const MatrixMap& map);
/// Local. Whether boxes of two arrays have memory in common, also where one array lies over the
/// other's (overlay). Requires: the boxes are inside. Cost: O(1) but for such arrays, and for these
/// O(n log n) time and O(n) memory of n pieces of memory that the boxes consist of.
bool share_memory(const arrays::ArrayBase& one, const arrays::Box& one_box,
                  const arrays::ArrayBase& other, const arrays::Box& other_box);
/// Local. Errors: invalid_argument when the two share elements.
rma::Status check_apart(const MatrixMap& one, std::string_view one_name, const MatrixMap& other,
                        std::string_view other_name);

/// Adds which matrix it is.
void add(Request& request, const MatrixMap& map);

}  // namespace tessera::linalg::detail
