// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/local_csr.hpp"

#include <fmt/format.h>

namespace tessera::linalg {

using rma::Code;
using rma::Status;

namespace {

Status wrong(std::string what) {
  return Status::error(Code::invalid_argument, std::move(what));
}

Status check_columns(std::int64_t row, std::int64_t columns, std::int64_t first,
                     std::span<const std::int64_t> column) {
  for (std::size_t i = 0; i < column.size(); ++i) {
    if (column[i] < 0 || column[i] >= columns) {
      return wrong(fmt::format("entry {}, in row {}, has column {}, which is not in 0 … {}",
                               first + static_cast<std::int64_t>(i), row, column[i], columns - 1));
    }
    if (i > 0 && column[i] <= column[i - 1]) {
      return wrong(fmt::format("in row {} column {} comes after column {}", row, column[i],
                               column[i - 1]))
          .hint("columns of a row increase strictly; SparseBuilder takes entries in any order");
    }
  }
  return {};
}

}  // namespace

Status check_rows(std::int64_t rows, std::int64_t columns, std::span<const std::int64_t> row_starts,
                  std::span<const std::int64_t> column) {
  if (rows < 0 || columns < 0) {
    return wrong(fmt::format("a matrix can't have {} rows and {} columns", rows, columns));
  }
  if (std::ssize(row_starts) != rows + 1 || row_starts[0] != 0 ||
      row_starts.back() != std::ssize(column)) {
    return wrong(fmt::format("{} rows and {} entries need {} row starts, from 0 to {}", rows,
                             column.size(), rows + 1, column.size()));
  }
  // All starts are checked before any is used.
  for (std::size_t row = 0; row + 1 < row_starts.size(); ++row) {
    if (row_starts[row] > row_starts[row + 1]) {
      return wrong(fmt::format("row {} starts at entry {} and ends at {}", row, row_starts[row],
                               row_starts[row + 1]));
    }
  }
  for (std::size_t row = 0; row + 1 < row_starts.size(); ++row) {
    const auto first = static_cast<std::size_t>(row_starts[row]);
    const auto count = static_cast<std::size_t>(row_starts[row + 1]) - first;
    TESSERA_RETURN_IF_ERROR(check_columns(static_cast<std::int64_t>(row), columns, row_starts[row],
                                          column.subspan(first, count)));
  }
  return {};
}

}  // namespace tessera::linalg
