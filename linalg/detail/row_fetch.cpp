// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/detail/row_fetch.hpp"

#include <complex>

#include "linalg/detail/scattered_get.hpp"

namespace tessera::linalg::detail {

using rma::Result;
using rma::Status;

namespace {

// Consecutive rows of one rank: the starts of all of them and the end of the last are contiguous.
struct RowRun {
  rma::TeamRank owner;
  std::int64_t first_row = 0;  // counted from the owner's first row
  std::int64_t rows = 0;
};

std::vector<RowRun> runs_of(const SparsePattern& pattern, std::span<const std::int64_t> rows) {
  std::vector<RowRun> runs;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const arrays::ElementLocation location = pattern.row_distribution().locate({rows[i]});
    if (i > 0 && rows[i] == rows[i - 1] + 1 && runs.back().owner == location.owner) {
      ++runs.back().rows;
    } else {
      runs.push_back({location.owner, location.offset, 1});
    }
  }
  return runs;
}

std::vector<Piece> pieces_of(std::span<const RowLocation> locations, void* to,
                             std::size_t entry_bytes) {
  std::vector<Piece> pieces;
  pieces.reserve(locations.size());
  auto* at = static_cast<std::byte*>(to);
  for (const RowLocation& location : locations) {
    const std::size_t bytes = static_cast<std::size_t>(location.entries) * entry_bytes;
    pieces.push_back(
        {location.owner, static_cast<std::uint64_t>(location.first) * entry_bytes, at, bytes});
    at += bytes;
  }
  return pieces;
}

}  // namespace

Result<std::vector<RowLocation>> locate_rows(SparsePattern& pattern,
                                             std::span<const std::int64_t> rows) {
  const std::vector<RowRun> runs = runs_of(pattern, rows);
  std::vector<std::int64_t> starts(rows.size() + runs.size());
  std::vector<Piece> pieces;
  pieces.reserve(runs.size());
  std::int64_t* to = starts.data();
  for (const RowRun& run : runs) {
    pieces.push_back({run.owner, static_cast<std::uint64_t>(run.first_row) * sizeof(std::int64_t),
                      to, static_cast<std::size_t>(run.rows + 1) * sizeof(std::int64_t)});
    to += run.rows + 1;
  }
  TESSERA_RETURN_IF_ERROR(get_pieces(pattern.job(), pattern.starts(), pieces).wait());
  std::vector<RowLocation> locations;
  locations.reserve(rows.size());
  const std::int64_t* from = starts.data();
  for (const RowRun& run : runs) {
    for (std::int64_t row = 0; row < run.rows; ++row) {
      locations.push_back({run.owner, from[row], from[row + 1] - from[row]});
    }
    from += run.rows + 1;
  }
  return locations;
}

Status fetch_columns(SparsePattern& pattern, std::span<const RowLocation> locations,
                     std::span<std::int64_t> to) {
  return get_pieces(pattern.job(), pattern.column(),
                    pieces_of(locations, to.data(), sizeof(std::int64_t)))
      .wait();
}

template <SparseElement T>
Status fetch_values(SparseMatrix<T>& matrix, std::span<const RowLocation> locations,
                    std::span<T> to) {
  return get_pieces(matrix.job(), matrix.values(), pieces_of(locations, to.data(), sizeof(T)))
      .wait();
}

template <SparseElement T>
Result<LocalCsr<T>> fetch_rows(SparseMatrix<T>& matrix, std::span<const RowLocation> locations) {
  LocalCsr<T> fetched;
  fetched.rows = std::ssize(locations);
  fetched.columns = matrix.columns();
  fetched.row_starts.reserve(locations.size() + 1);
  for (const RowLocation& location : locations) {
    fetched.row_starts.push_back(fetched.row_starts.back() + location.entries);
  }
  fetched.column.resize(static_cast<std::size_t>(fetched.row_starts.back()));
  fetched.value.resize(fetched.column.size());
  TESSERA_RETURN_IF_ERROR(fetch_columns(*matrix.pattern(), locations, fetched.column));
  TESSERA_RETURN_IF_ERROR(fetch_values<T>(matrix, locations, fetched.value));
  return fetched;
}

std::size_t rows_in_batch(std::span<const RowLocation> locations) {
  std::int64_t entries = 0;
  std::size_t count = 0;
  while (count < locations.size()) {
    entries += locations[count].entries;
    if (count > 0 && entries > batch_entries) {
      break;
    }
    ++count;
  }
  return count;
}

template Result<LocalCsr<std::int32_t>> fetch_rows(SparseMatrix<std::int32_t>&,
                                                   std::span<const RowLocation>);
template Result<LocalCsr<std::int64_t>> fetch_rows(SparseMatrix<std::int64_t>&,
                                                   std::span<const RowLocation>);
template Result<LocalCsr<float>> fetch_rows(SparseMatrix<float>&, std::span<const RowLocation>);
template Result<LocalCsr<double>> fetch_rows(SparseMatrix<double>&, std::span<const RowLocation>);
template Result<LocalCsr<std::complex<float>>> fetch_rows(SparseMatrix<std::complex<float>>&,
                                                          std::span<const RowLocation>);
template Result<LocalCsr<std::complex<double>>> fetch_rows(SparseMatrix<std::complex<double>>&,
                                                           std::span<const RowLocation>);

}  // namespace tessera::linalg::detail
