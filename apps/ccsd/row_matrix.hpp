// SPDX-License-Identifier: BSD-3-Clause
//
// RowMatrix: a tensor of four indices as a distributed matrix: two indices count its rows, two its
// columns. Each rank holds the same number of rows, plus or minus one.
//
//     ⟨ij|ab⟩ in row i·O + j and column a·V + b
//
// So contractions over two indices are products of matrices (contraction.hpp), and operations on
// single rows need no communication (OwnRows).
//
// Threads: as Array. Ownership: move-only, freed collectively.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "arrays/access.hpp"
#include "arrays/array.hpp"
#include "rma/base/result.hpp"

namespace tessera::apps::ccsd {

using RowMatrix = arrays::Array<double>;

/// Collective. A matrix of zeros; ranks without a row hold nothing.
rma::Result<RowMatrix> create_row_matrix(const rma::Job& job, const std::string& name,
                                         std::int64_t rows, std::int64_t columns);

/// Access to the rows of this rank, for reading and writing during its lifetime.
class OwnRows {
 public:
  /// Local. Errors: as for arrays::LocalAccess.
  static rma::Result<OwnRows> of(RowMatrix& matrix);

  [[nodiscard]] std::int64_t first() const noexcept { return first_; }
  [[nodiscard]] std::int64_t last() const noexcept { return last_; }
  [[nodiscard]] std::int64_t columns() const noexcept { return columns_; }
  [[nodiscard]] bool holds(std::int64_t row) const noexcept { return row >= first_ && row < last_; }
  /// Requires: holds(row).
  [[nodiscard]] double* row(std::int64_t row) const noexcept {
    return data_ + (row - first_) * columns_;
  }
  [[nodiscard]] std::span<double> all() const noexcept {
    return {data_, static_cast<std::size_t>((last_ - first_) * columns_)};
  }

 private:
  OwnRows(arrays::LocalAccess<double> access, std::int64_t columns);
  arrays::LocalAccess<double> access_;
  double* data_;
  std::int64_t first_;
  std::int64_t last_;
  std::int64_t columns_;
};

/// A run of rows x·n + y, y from `y_first` to `y_last`, with the same first index x.
struct RowRun {
  std::int64_t x = 0;
  std::int64_t y_first = 0;
  std::int64_t y_last = 0;
  [[nodiscard]] std::int64_t size() const noexcept { return y_last - y_first; }
};

/// Divides rows [first, last) of pairs x·n + y into runs and calls `action(run)` for each.
template <class Action>
rma::Status for_each_run(const OwnRows& rows, std::int64_t n, Action&& action) {
  for (std::int64_t row = rows.first(); row < rows.last();) {
    const std::int64_t x = row / n;
    const std::int64_t end = std::min(rows.last(), (x + 1) * n);
    TESSERA_RETURN_IF_ERROR(action(RowRun{x, row - x * n, end - x * n}));
    row = end;
  }
  return {};
}

}  // namespace tessera::apps::ccsd
