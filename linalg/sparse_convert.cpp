// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/sparse_convert.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <complex>
#include <limits>
#include <vector>

#include "arrays/elementwise.hpp"
#include "linalg/detail/agreement.hpp"
#include "linalg/detail/arithmetic.hpp"
#include "linalg/detail/dense_panel.hpp"
#include "linalg/detail/row_blocks.hpp"
#include "linalg/sparse_builder.hpp"

namespace tessera::linalg {

using arrays::Array;
using arrays::Box;
using arrays::Distribution;
using detail::RowRange;
using rma::Code;
using rma::Result;
using rma::Status;

namespace {

// One-sided. Calls `body(row, elements)` for each of some rows of a dense array.
template <SparseElement T, class Body>
Status for_each_row(const Array<T>& dense, RowRange rows, Body&& body) {
  const std::int64_t columns = dense.extents()[1];
  const std::int64_t height = detail::panel_rows(columns);
  std::vector<T> panel;
  for (std::int64_t lo = rows.lo; lo < rows.hi; lo += height) {
    const std::int64_t hi = std::min(lo + height, rows.hi);
    panel.resize(static_cast<std::size_t>((hi - lo) * columns));
    if (!panel.empty()) {
      TESSERA_RETURN_IF_ERROR(dense.get(Box({lo, 0}, {hi, columns}), panel));
    }
    for (std::int64_t row = lo; row < hi; ++row) {
      body(row, std::span<const T>(panel).subspan(static_cast<std::size_t>((row - lo) * columns),
                                                  static_cast<std::size_t>(columns)));
    }
  }
  return {};
}

// Collective. The rows of each rank.
template <SparseElement T>
Result<Distribution> rows_for(const Array<T>& dense, const SparseOptions& options,
                              double threshold) {
  rma::Team& team = dense.team();
  const std::int64_t rows = dense.extents()[0];
  auto chosen = team.agree([&] {
    return options.row_starts.empty() ? detail::even_rows(rows, team.size())
                                      : detail::rows_from(rows, options.row_starts, team.size());
  });
  TESSERA_RETURN_IF_ERROR(chosen.status());
  TESSERA_RETURN_IF_ERROR(detail::check_same_on_all(
      team, arrays::fingerprint(*chosen) * 31 + static_cast<std::uint64_t>(options.balance),
      "cut of the rows"));
  if (options.balance == RowBalance::rows || !options.row_starts.empty()) {
    return chosen;
  }
  std::vector<std::int64_t> counts;
  TESSERA_RETURN_IF_ERROR(team.agree([&] {
    return for_each_row(
        dense, detail::rows_of(*chosen, team.rank()), [&](std::int64_t, std::span<const T> row) {
          counts.push_back(std::count_if(row.begin(), row.end(), [&](const T& value) {
            return detail::exceeds(value, threshold);
          }));
        });
  }));
  return detail::balanced_rows(team, *chosen, counts);
}

// One-sided. Reads this rank's rows of a dense array.
template <SparseElement T>
Result<LocalCsr<T>> read_rows(const Array<T>& dense, RowRange rows, double threshold) {
  LocalCsr<T> own;
  own.rows = rows.size();
  own.columns = dense.extents()[1];
  TESSERA_RETURN_IF_ERROR(for_each_row(dense, rows, [&](std::int64_t, std::span<const T> row) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      if (detail::exceeds(row[column], threshold)) {
        own.column.push_back(static_cast<std::int64_t>(column));
        own.value.push_back(row[column]);
      }
    }
    own.row_starts.push_back(std::ssize(own.column));
  }));
  return own;
}

// Local. Writes the rows, as many at a time as fit a panel.
template <SparseElement T>
Status put_rows(const LocalRows<T>& own, Array<T>& dense) {
  const std::int64_t columns = dense.extents()[1];
  const std::int64_t height = detail::panel_rows(columns);
  std::vector<T> panel;
  for (std::int64_t lo = 0; lo < own.rows(); lo += height) {
    const std::int64_t hi = std::min(lo + height, own.rows());
    panel.assign(static_cast<std::size_t>((hi - lo) * columns), T{});
    for (std::int64_t row = lo; row < hi; ++row) {
      T* const to = panel.data() + (row - lo) * columns;
      for (std::int64_t entry = own.row_start(row); entry < own.row_start(row + 1); ++entry) {
        const auto at = static_cast<std::size_t>(entry);
        to[own.columns()[at]] = own.values()[at];
      }
    }
    const Box box({own.first_row() + lo, 0}, {own.first_row() + hi, columns});
    if (!box.is_empty()) {
      TESSERA_RETURN_IF_ERROR(dense.put(box, panel));
    }
  }
  return {};
}

// Local. Adds this rank's entries, with row and column exchanged.
template <SparseElement T>
Status add_transposed(SparseMatrix<T>& matrix, SparseBuilder<T>& builder) {
  TESSERA_ASSIGN_OR_RETURN(auto own, matrix.local());
  builder.reserve(own.entries());
  for (std::int64_t i = 0; i < own.rows(); ++i) {
    const auto columns = own.columns_of(i);
    const auto values = own.values_of(i);
    for (std::size_t k = 0; k < columns.size(); ++k) {
      TESSERA_RETURN_IF_ERROR(builder.add(columns[k], own.first_row() + i, values[k]));
    }
  }
  return own.end();
}

// Local. One rank's part of a summary, with minima and maxima.
struct PartialSummary {
  std::int64_t empty_rows = 0;
  std::int64_t on_diagonal = 0;
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  std::int64_t most = 0;
  std::int64_t below = 0;
  std::int64_t above = 0;
};

template <SparseElement T>
PartialSummary add_to_summary(const LocalRows<T>& own) {
  PartialSummary seen;
  for (std::int64_t i = 0; i < own.rows(); ++i) {
    const auto columns = own.columns_of(i);
    const std::int64_t row = own.first_row() + i;
    seen.empty_rows += columns.empty() ? 1 : 0;
    seen.fewest = std::min(seen.fewest, std::ssize(columns));
    seen.most = std::max(seen.most, std::ssize(columns));
    if (!columns.empty()) {
      seen.below = std::max(seen.below, row - columns.front());
      seen.above = std::max(seen.above, columns.back() - row);
      seen.on_diagonal += std::binary_search(columns.begin(), columns.end(), row) ? 1 : 0;
    }
  }
  return seen;
}

}  // namespace

template <SparseElement T>
Result<SparseMatrix<T>> from_dense(Array<T>& dense, const SparseOptions& options,
                                   double threshold) {
  const auto attempt = [&](Status status) {
    return status.ok() ? Status()
                       : std::move(status).context(fmt::format("making sparse matrix '{}' of {}",
                                                               options.name, dense.describe()));
  };
  TESSERA_RETURN_IF_ERROR(attempt(dense.check_open()));
  Status own_status = dense.check_readable();
  if (dense.ndims() != 2 || !(threshold >= 0)) {
    own_status =
        Status::error(Code::invalid_argument,
                      fmt::format("{} dimensions and threshold {}: 2 dimensions and a threshold "
                                  "of at least 0 are needed",
                                  dense.ndims(), threshold));
  }
  TESSERA_RETURN_IF_ERROR(attempt(dense.sync(own_status)));
  TESSERA_RETURN_IF_ERROR(attempt(detail::check_same_on_all(dense.team(), threshold, "threshold")));
  const auto rows = rows_for(dense, options, threshold);
  TESSERA_RETURN_IF_ERROR(attempt(rows.status()));
  const RowRange range = detail::rows_of(*rows, dense.team().rank());
  auto own = dense.team().agree([&] { return read_rows(dense, range, threshold); });
  TESSERA_RETURN_IF_ERROR(attempt(own.status()));
  return SparseMatrix<T>::adopt(dense.job(), dense.team(), *rows, std::move(own).take(),
                                options.name);
}

template <SparseElement T>
Status to_dense(SparseMatrix<T>& matrix, Array<T>& dense) {
  TESSERA_RETURN_IF_ERROR(matrix.check_open());
  const auto attempt = [&](Status status) {
    return status.ok() ? Status()
                       : std::move(status).context(
                             fmt::format("writing {} as a dense array", matrix.describe()));
  };
  TESSERA_RETURN_IF_ERROR(attempt(matrix.sync(
      detail::prepare_target(dense, matrix.extents(), matrix.team(), "the dense array"))));
  // All rows are written, also those without entries, so the array needs no zeros before.
  return attempt(dense.sync([&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(auto own, matrix.local());
    TESSERA_RETURN_IF_ERROR(put_rows(own, dense));
    return own.end();
  }));
}

template <SparseElement T>
Result<SparseMatrix<T>> transpose(SparseMatrix<T>& matrix, const SparseOptions& options) {
  TESSERA_RETURN_IF_ERROR(matrix.check_open());
  SparseOptions here = options;
  here.team = matrix.team();
  TESSERA_ASSIGN_OR_RETURN(
      auto builder, SparseBuilder<T>::create(matrix.job(), matrix.columns(), matrix.rows(), here));
  TESSERA_RETURN_IF_ERROR(matrix.sync());
  Status added = matrix.team().agree([&] { return add_transposed(matrix, builder); });
  if (!added.ok()) {
    return std::move(added).context("transposing " + matrix.describe());
  }
  return builder.assemble();
}

template <SparseElement T>
Result<SparseSummary> summarise(SparseMatrix<T>& matrix) {
  TESSERA_RETURN_IF_ERROR(matrix.check_open());
  auto own = matrix.local();
  TESSERA_RETURN_IF_ERROR(matrix.team().agree(own.status()));
  const PartialSummary seen = add_to_summary(*own);
  std::array<std::int64_t, 2> sums{seen.empty_rows, seen.on_diagonal};
  std::array<std::int64_t, 2> least{seen.fewest, own->entries()};
  std::array<std::int64_t, 4> most{seen.most, own->entries(), seen.below, seen.above};
  TESSERA_RETURN_IF_ERROR(
      matrix.team().allreduce(std::span<std::int64_t>(sums), rma::Reduction::sum));
  TESSERA_RETURN_IF_ERROR(
      matrix.team().allreduce(std::span<std::int64_t>(least), rma::Reduction::min));
  TESSERA_RETURN_IF_ERROR(
      matrix.team().allreduce(std::span<std::int64_t>(most), rma::Reduction::max));
  return SparseSummary{.matrix = matrix.describe(),
                       .empty_rows = sums[0],
                       .fewest_in_row = matrix.rows() == 0 ? 0 : least[0],
                       .most_in_row = most[0],
                       .on_diagonal = sums[1],
                       .below_diagonal = most[2],
                       .above_diagonal = most[3],
                       .fewest_on_rank = least[1],
                       .most_on_rank = most[1],
                       .ranks = matrix.team().size()};
}

std::string to_string(const SparseSummary& summary) {
  return fmt::format(
      "{}\n"
      "  entries of a row   {} to {}, {} rows empty\n"
      "  on the diagonal    {}, others at most {} below and {} above\n"
      "  entries of a rank  {} to {}, {} ranks",
      summary.matrix, summary.fewest_in_row, summary.most_in_row, summary.empty_rows,
      summary.on_diagonal, summary.below_diagonal, summary.above_diagonal, summary.fewest_on_rank,
      summary.most_on_rank, summary.ranks);
}

template Result<SparseMatrix<std::int32_t>> from_dense(Array<std::int32_t>&, const SparseOptions&,
                                                       double);
template Status to_dense(SparseMatrix<std::int32_t>&, Array<std::int32_t>&);
template Result<SparseMatrix<std::int32_t>> transpose(SparseMatrix<std::int32_t>&,
                                                      const SparseOptions&);
template Result<SparseSummary> summarise(SparseMatrix<std::int32_t>&);
template Result<SparseMatrix<std::int64_t>> from_dense(Array<std::int64_t>&, const SparseOptions&,
                                                       double);
template Status to_dense(SparseMatrix<std::int64_t>&, Array<std::int64_t>&);
template Result<SparseMatrix<std::int64_t>> transpose(SparseMatrix<std::int64_t>&,
                                                      const SparseOptions&);
template Result<SparseSummary> summarise(SparseMatrix<std::int64_t>&);
template Result<SparseMatrix<float>> from_dense(Array<float>&, const SparseOptions&, double);
template Status to_dense(SparseMatrix<float>&, Array<float>&);
template Result<SparseMatrix<float>> transpose(SparseMatrix<float>&, const SparseOptions&);
template Result<SparseSummary> summarise(SparseMatrix<float>&);
template Result<SparseMatrix<double>> from_dense(Array<double>&, const SparseOptions&, double);
template Status to_dense(SparseMatrix<double>&, Array<double>&);
template Result<SparseMatrix<double>> transpose(SparseMatrix<double>&, const SparseOptions&);
template Result<SparseSummary> summarise(SparseMatrix<double>&);
template Result<SparseMatrix<std::complex<float>>> from_dense(Array<std::complex<float>>&,
                                                              const SparseOptions&, double);
template Status to_dense(SparseMatrix<std::complex<float>>&, Array<std::complex<float>>&);
template Result<SparseMatrix<std::complex<float>>> transpose(SparseMatrix<std::complex<float>>&,
                                                             const SparseOptions&);
template Result<SparseSummary> summarise(SparseMatrix<std::complex<float>>&);
template Result<SparseMatrix<std::complex<double>>> from_dense(Array<std::complex<double>>&,
                                                               const SparseOptions&, double);
template Status to_dense(SparseMatrix<std::complex<double>>&, Array<std::complex<double>>&);
template Result<SparseMatrix<std::complex<double>>> transpose(SparseMatrix<std::complex<double>>&,
                                                              const SparseOptions&);
template Result<SparseSummary> summarise(SparseMatrix<std::complex<double>>&);

}  // namespace tessera::linalg
