// SPDX-License-Identifier: BSD-3-Clause
//
// SparseMatrix<T>: a sparse matrix whose rows are distributed over the ranks of a team.
//
//     auto builder = SparseBuilder<double>::create(job, n, n, {.name = "A"}).value();
//     builder.add(i, j, 2.5);                            // any rank, any entry, in any order
//     auto a = builder.assemble().value();               // the pattern is fixed from here on
//     auto plan = SpmvPlan<double>::create(a, x, y).value();
//     plan.multiply(a, x, y);                            // y = A x, as often as needed
//
//     rank 0   rows 0 … 3   |x . . x . .|     each rank owns one block of consecutive rows, and
//     rank 1   rows 4 … 6   |. x . . . .|     stores its entries as compressed rows
//     rank 2   rows 7 … 9   |. . x x . x|     (local_csr.hpp) in its slices
//
// The pattern, that is, the set of entries, never changes. Values may change, through the functions
// of sparse_diagonal.hpp or through LocalRows. An entry may be zero.
//
// Matrices are made by SparseBuilder, by create() from each rank's rows, from dense arrays
// (sparse_convert.hpp), or as products and transposes of others. All functions except get() are
// collective. Functions whose results have the same bits for any number of ranks say so.
//
// Threads: one-sided operations from any thread; for each team, collectives from one thread at a
// time. Errors: invalid_argument, out_of_range and closed before anything is changed; peer_lost.
// Each message names the matrix. Ownership: move-only; the destructor frees the matrix,
// collectively.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arrays/box.hpp"
#include "arrays/distribution.hpp"
#include "linalg/local_csr.hpp"
#include "linalg/sparse_pattern.hpp"
#include "rma/base/result.hpp"
#include "rma/element.hpp"
#include "rma/job.hpp"
#include "rma/region.hpp"

namespace tessera::linalg {

/// What the blocks of rows have about equal numbers of.
enum class RowBalance : std::uint8_t { rows, entries };

/// Options for making a matrix; all members give the same.
struct SparseOptions {
  std::string name = "unnamed";        ///< in messages
  std::optional<rma::Team> team = {};  ///< unset: all ranks of the job
  RowBalance balance = RowBalance::rows;
  /// Rank i owns the rows from row_starts[i] to row_starts[i + 1]; later ranks own none, and
  /// `balance` is ignored. Empty: chosen according to `balance`.
  std::vector<std::int64_t> row_starts = {};
};

template <SparseElement T>
class LocalRows;

/// A distributed sparse matrix; see above.
template <SparseElement T>
class SparseMatrix {
 public:
  using value_type = T;

  SparseMatrix(SparseMatrix&&) noexcept = default;
  SparseMatrix& operator=(SparseMatrix&&) noexcept = default;
  ~SparseMatrix() = default;

  /// Collective over the team of `options`. Each member gives its own rows; together, in the order
  /// of the ranks, they are all rows. A member may give none. All give the same number of columns.
  /// The options about rows are ignored. Errors: invalid_argument (rows that break the invariants
  /// of LocalCsr, or a number of columns that differs from the first member's), no_memory. Cost: a
  /// copy of the rows; the originals are freed during the call.
  static rma::Result<SparseMatrix> create(const rma::Job& job, LocalCsr<T> own_rows,
                                          const SparseOptions& options = {});

  /// Collective. Makes a copy of the matrix, which shares the pattern. Errors: closed, no_memory.
  [[nodiscard]] rma::Result<SparseMatrix> duplicate(const std::string& name);
  /// Collective. Frees the memory. Requires: operations on the matrix are complete. Idempotent.
  rma::Status free();
  /// Local. Errors: closed if the matrix was freed or moved from.
  [[nodiscard]] rma::Status check_open() const;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// The number of rows of the whole matrix. Requires, here and below: check_open() is ok.
  [[nodiscard]] std::int64_t rows() const noexcept { return pattern_->rows(); }
  /// The number of columns of the whole matrix.
  [[nodiscard]] std::int64_t columns() const noexcept { return pattern_->columns(); }
  /// The number of entries on all ranks.
  [[nodiscard]] std::int64_t entries() const noexcept { return pattern_->entries(); }
  [[nodiscard]] arrays::Extents extents() const noexcept { return {rows(), columns()}; }
  [[nodiscard]] arrays::Box box() const noexcept { return arrays::Box::whole(extents()); }
  [[nodiscard]] rma::Job& job() const noexcept { return pattern_->job(); }
  [[nodiscard]] rma::Team& team() const noexcept { return pattern_->team(); }
  /// The positions of the entries, which duplicates and plans share.
  [[nodiscard]] const std::shared_ptr<SparsePattern>& pattern() const noexcept { return pattern_; }
  /// For this layer: the memory of the values, one for each entry of this rank.
  [[nodiscard]] rma::Region& values() noexcept { return values_; }

  /// The distribution of the rows: use it for vectors whose elements should be on the ranks of
  /// their rows.
  [[nodiscard]] const arrays::Distribution& row_distribution() const noexcept {
    return pattern_->row_distribution();
  }
  /// An even partition of the columns into as many blocks as there are ranks.
  [[nodiscard]] arrays::Distribution column_distribution() const;
  /// Local. The blocks of column_distribution() in which this rank's rows have entries, given by
  /// their ranks in ascending order. Errors: closed.
  [[nodiscard]] rma::Result<std::vector<rma::TeamRank>> column_blocks();

  /// Local. Access to this rank's rows, for loads and stores of values. Errors: closed.
  [[nodiscard]] rma::Result<LocalRows<T>> local();

  /// One-sided. Returns the entries inside `box`; the lower corner of the box becomes row 0 and
  /// column 0. With the box of the whole matrix one rank gets all of it. Values that other ranks
  /// changed are included if they were synchronised. Errors: out_of_range, closed, no_memory. Cost:
  /// all entries of the box's rows are read, in parts of some MiB.
  [[nodiscard]] rma::Result<LocalCsr<T>> get(const arrays::Box& box);

  /// Collective. Afterwards all members see what any member did to values before.
  rma::Status sync() { return sync(rma::Status()); }
  /// Collective. Ends a collective operation in which this rank found `own_status`: an error of any
  /// member is the result on all.
  rma::Status sync(const rma::Status& own_status);

  /// "sparse matrix 'A' (float64, 100 x 100, 298 entries)".
  [[nodiscard]] std::string describe() const;

  /// Collective. For functions that make matrices: takes rows with the distribution `rows`, without
  /// checks. Requires: own_rows are this rank's rows of `rows`, and keep the invariants of
  /// LocalCsr.
  static rma::Result<SparseMatrix> adopt(const rma::Job& job, rma::Team& team,
                                         const arrays::Distribution& rows, LocalCsr<T> own_rows,
                                         const std::string& name);

 private:
  SparseMatrix(std::string name, std::shared_ptr<SparsePattern> pattern, rma::Region values)
      : name_(std::move(name)), pattern_(std::move(pattern)), values_(std::move(values)) {}

  std::string name_;
  std::shared_ptr<SparsePattern> pattern_;  // before values_: its regions are freed last
  rma::Region values_;
  rma::Team freed_on_;  // set in free(): errors still name the rank
};

/// The scoped right to use this rank's own rows in place. Other ranks may read and write values at
/// the same time; synchronise with SparseMatrix::sync().
template <SparseElement T>
class LocalRows {
 public:
  /// Local. Begins an access. Errors: closed.
  static rma::Result<LocalRows> begin(SparseMatrix<T>& matrix);
  /// Local. Ends the access and returns its status. The destructor ends it too, and logs an error.
  rma::Status end();

  /// The global number of this rank's first row; below, how many rows and entries it has.
  [[nodiscard]] std::int64_t first_row() const noexcept { return first_row_; }
  /// The number of this rank's rows.
  [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }
  /// The number of entries in this rank's rows.
  [[nodiscard]] std::int64_t entries() const noexcept { return entries_; }
  /// The entries of row first_row() + i are row_start(i) … row_start(i + 1) − 1. Requires: 0 ≤ i ≤
  /// rows().
  [[nodiscard]] std::int64_t row_start(std::int64_t i) const noexcept {
    return rows_ == 0 ? 0 : row_starts_[i];
  }
  /// An array of rows() + 1 numbers; null if there are no rows.
  [[nodiscard]] const std::int64_t* row_starts() const noexcept { return row_starts_; }
  /// The global columns of all entries of this rank, row by row.
  [[nodiscard]] std::span<const std::int64_t> columns() const noexcept {
    return {columns_, static_cast<std::size_t>(entries_)};
  }
  /// The global columns of the entries in row first_row() + i. Requires: 0 ≤ i < rows().
  [[nodiscard]] std::span<const std::int64_t> columns_of(std::int64_t i) const noexcept {
    return columns().subspan(static_cast<std::size_t>(row_start(i)),
                             static_cast<std::size_t>(row_start(i + 1) - row_start(i)));
  }
  /// The values of all entries of this rank, in the order of columns().
  [[nodiscard]] std::span<T> values() const noexcept {
    return {values_, static_cast<std::size_t>(entries_)};
  }
  /// The values of the entries in row first_row() + i. Requires: 0 ≤ i < rows().
  [[nodiscard]] std::span<T> values_of(std::int64_t i) const noexcept {
    return values().subspan(static_cast<std::size_t>(row_start(i)),
                            static_cast<std::size_t>(row_start(i + 1) - row_start(i)));
  }

 private:
  LocalRows(const SparseMatrix<T>& matrix, rma::LocalAccess starts, rma::LocalAccess columns,
            rma::LocalAccess values);

  rma::LocalAccess starts_right_;
  rma::LocalAccess columns_right_;
  rma::LocalAccess values_right_;
  std::int64_t first_row_;
  std::int64_t rows_;
  std::int64_t entries_;
  const std::int64_t* row_starts_;
  const std::int64_t* columns_;
  T* values_;
};

extern template class SparseMatrix<std::int32_t>;
extern template class SparseMatrix<std::int64_t>;
extern template class SparseMatrix<float>;
extern template class SparseMatrix<double>;
extern template class SparseMatrix<std::complex<float>>;
extern template class SparseMatrix<std::complex<double>>;
extern template class LocalRows<std::int32_t>;
extern template class LocalRows<std::int64_t>;
extern template class LocalRows<float>;
extern template class LocalRows<double>;
extern template class LocalRows<std::complex<float>>;
extern template class LocalRows<std::complex<double>>;

}  // namespace tessera::linalg
