// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/detail/own_parts.hpp"

#include <map>
#include <utility>

namespace tessera::linalg::detail {

using arrays::Box;
using arrays::Patch;

std::vector<OwnPart> own_parts(const MatrixMap& map, rma::TeamRank rank) {
  std::map<Interval, IntervalList> columns_of_rows;
  for (const Patch& block : map.array->distribution().blocks(rank)) {
    const Box box = intersect(block.box, map.box);
    if (box.is_empty()) {
      continue;
    }
    const std::int64_t first_row = map.box.lo(map.row_dim);
    const std::int64_t first_column = map.box.lo(map.column_dim);
    columns_of_rows[{box.lo(map.row_dim) - first_row, box.hi(map.row_dim) - first_row}].push_back(
        {box.lo(map.column_dim) - first_column, box.hi(map.column_dim) - first_column});
  }
  std::map<IntervalList, IntervalList> rows_of_columns;
  for (auto& [rows, columns] : columns_of_rows) {
    std::sort(columns.begin(), columns.end());  // a rank's blocks may be in column-major order
    rows_of_columns[std::move(columns)].push_back(rows);
  }
  std::vector<OwnPart> parts;
  for (auto& [columns, rows] : rows_of_columns) {
    parts.push_back({.rows = std::move(rows), .columns = columns});
  }
  return parts;
}

}  // namespace tessera::linalg::detail
