// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Rows of a matrix from wherever they lie, one-sidedly: first where each begins and ends,
// then columns and values of as many as the caller has room for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "linalg/csr.hpp"
#include "linalg/local_csr.hpp"

namespace tessera::linalg::detail {

/// Entries that one batch of fetched rows has at most, unless it is a single row: some MiB.
inline constexpr std::int64_t batch_entries = std::int64_t{1} << 18U;

struct RowPlace {
  rma::TeamRank owner;
  std::int64_t first = 0;  ///< entry from the start of the owner's slice
  std::int64_t entries = 0;
};

/// One-sided. Where `rows`, ascending, lie. Requires: each is a row of the matrix.
rma::Result<std::vector<RowPlace>> locate_rows(SparsePattern& pattern,
                                               std::span<const std::int64_t> rows);

/// One-sided. The entries of rows that were located, packed one after the other.
rma::Status fetch_columns(SparsePattern& pattern, std::span<const RowPlace> places,
                          std::span<std::int64_t> to);
template <SparseElement T>
rma::Status fetch_values(SparseMatrix<T>& matrix, std::span<const RowPlace> places,
                         std::span<T> to);

/// One-sided. Both.
template <SparseElement T>
rma::Result<LocalCsr<T>> fetch_rows(SparseMatrix<T>& matrix, std::span<const RowPlace> places);

/// How many of the first `places` have at most batch_entries together; at least one if there is
/// any.
std::size_t places_in_batch(std::span<const RowPlace> places);

}  // namespace tessera::linalg::detail
