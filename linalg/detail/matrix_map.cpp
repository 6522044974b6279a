// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/detail/matrix_map.hpp"

#include <algorithm>

namespace tessera::linalg::detail {

using arrays::Box;
using arrays::MemoryOrder;

Box MatrixMap::part(const Interval& in_rows, const Interval& in_columns) const noexcept {
  Box part = box;
  part.set(row_dim, box.lo(row_dim) + in_rows.lo, box.lo(row_dim) + in_rows.hi);
  part.set(column_dim, box.lo(column_dim) + in_columns.lo, box.lo(column_dim) + in_columns.hi);
  return part;
}

bool MatrixMap::is_row_major() const noexcept {
  const bool last_is_fast = array->distribution().order() == MemoryOrder::row_major;
  return last_is_fast == (column_dim > row_dim);
}

namespace {

// A line whose parts are one run of memory.
struct Run {
  LinePart first;
  std::int64_t parts = 0;
};

std::optional<Run> find_run(const MatrixMap& map, Axis axis, const IntervalList& list,
                            std::int64_t other) {
  Run run;
  LinePart previous;
  bool is_run = true;
  for_each_line_part(map, axis, list, other, [&](const LinePart& part) {
    if (run.parts == 0) {
      run.first = part;
    } else {
      is_run = previous.continues_with(part);
    }
    previous = part;
    ++run.parts;
    return is_run;
  });
  return is_run ? std::optional(run) : std::nullopt;
}

}  // namespace

std::optional<MatrixLocation> locate(const MatrixMap& map, const IntervalList& rows,
                                     const IntervalList& columns) {
  const auto column = find_run(map, Axis::rows, rows, columns.front().lo);
  if (!column) {
    return std::nullopt;
  }
  const auto row = find_run(map, Axis::columns, columns, rows.front().lo);
  // Two lines determine the locations of all elements only if the row and the column of each block
  // determine its location.
  const bool is_product =
      map.array->distribution().storage() == arrays::Storage::local_matrix || column->parts == 1;
  if (!row || (row->parts > 1 && !is_product)) {
    return std::nullopt;
  }
  return MatrixLocation{.owner = column->first.owner,
                        .offset = column->first.offset,
                        .row_stride = column->first.stride,
                        .column_stride = row->first.stride};
}

}  // namespace tessera::linalg::detail
