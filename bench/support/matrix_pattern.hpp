// SPDX-License-Identifier: BSD-3-Clause
//
// MatrixPattern: where a sparse matrix has entries, as counts over a coarse grid of cells: what a
// picture of it needs, whatever its size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::bench {

struct MatrixPattern {
  std::string name;  ///< as the results call the matrix
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t entries = 0;
  /// Entries in each cell, from above; all lines have as many cells.
  std::vector<std::vector<std::int64_t>> cells;
};

}  // namespace tessera::bench
