// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Reads rows of a matrix from any ranks, one-sided: first the begin and end of each row,
// then columns and values, as many as the caller has room for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "linalg/csr.hpp"
#include "linalg/local_csr.hpp"

namespace tessera::linalg::detail {

/// The maximum number of entries in one batch of fetched rows, unless it is a single row: some MiB.
inline constexpr std::int64_t batch_entries = std::int64_t{1} << 18U;

struct RowLocation {
  rma::TeamRank owner;
  std::int64_t first = 0;  ///< index of the first entry in the owner's slice
  std::int64_t entries = 0;
};

/// One-sided. Locates `rows`, which are ascending. Requires: each is a row of the matrix.
rma::Result<std::vector<RowLocation>> locate_rows(SparsePattern& pattern,
                                                  std::span<const std::int64_t> rows);

/// One-sided. Reads the columns of rows that were located, packed; below, their values.
rma::Status fetch_columns(SparsePattern& pattern, std::span<const RowLocation> locations,
                          std::span<std::int64_t> to);
template <SparseElement T>
rma::Status fetch_values(SparseMatrix<T>& matrix, std::span<const RowLocation> locations,
                         std::span<T> to);

/// One-sided. Reads columns and values.
template <SparseElement T>
rma::Result<LocalCsr<T>> fetch_rows(SparseMatrix<T>& matrix,
                                    std::span<const RowLocation> locations);

/// The number of first `locations` that have at most batch_entries entries together; at least one,
/// unless there are none.
std::size_t rows_in_batch(std::span<const RowLocation> locations);

}  // namespace tessera::linalg::detail
