// SPDX-License-Identifier: BSD-3-Clause
//
// MatrixPattern: where a sparse matrix has entries, as counts over a coarse grid of cells. A
// picture needs only these, whatever the matrix's size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::bench {

struct MatrixPattern {
  std::string name;  ///< the results' name for the matrix
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t entries = 0;
  /// Entries in each cell, row by row from the top; all rows have the same number of cells.
  std::vector<std::vector<std::int64_t>> cells;
};

}  // namespace tessera::bench
