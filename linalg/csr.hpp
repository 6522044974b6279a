// SPDX-License-Identifier: BSD-3-Clause
//
// SparseMatrix<T>: a sparse matrix whose rows are spread over the ranks of a team.
//
//     auto builder = SparseBuilder<double>::create(job, n, n, {.name = "A"}).value();
//     builder.add(i, j, 2.5);                            // any rank, any entry, in any order
//     auto a = builder.assemble().value();               // csr: the pattern is fixed from here on
//     auto plan = SpmvPlan<double>::create(a, x, y).value();
//     plan.multiply(a, x, y);                            // y = A x, as often as needed
//
//     rank 0   rows 0 … 3   |x . . x . .|     one block of consecutive rows a rank; the entries of
//     rank 1   rows 4 … 6   |. x . . . .|     a block in compressed rows (local_csr.hpp), in its
//     rank 2   rows 7 … 9   |. . x x . x|     rank's slices
//
// The pattern (which entries there are) never changes; values may, by the functions of
// sparse_diagonal.hpp or through LocalRows. A zero may be an entry.
//
// Made by SparseBuilder, by create() from each rank's rows, from dense arrays (sparse_convert.hpp),
// or as products and transposes of others. Everything but get() is collective.
//
// Which results have the same bits for any number of ranks is said where they are made.
//
// Threads: one-sided operations from any thread; collectives by one thread at a time of a team.
// Errors: invalid_argument, out_of_range and closed before anything is changed, peer_lost. Each
// names the matrix. Ownership: move-only; the destructor frees, collectively.
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
#include "rma/element.hpp"
#include "rma/job.hpp"
#include "rma/region.hpp"
#include "rma/result.hpp"

namespace tessera::linalg {

/// What blocks of rows have about equally many of.
enum class RowBalance : std::uint8_t { rows, entries };

/// How a matrix is made; all members give the same.
struct SparseOptions {
  std::string name = "unnamed";        ///< for messages
  std::optional<rma::Team> team = {};  ///< none: all ranks of the job
  RowBalance balance = RowBalance::rows;
  /// Rank i has the rows from row_starts[i] to the next one; ranks beyond have none. Then `balance`
  /// does not count. None: chosen.
  std::vector<std::int64_t> row_starts = {};
};

template <SparseElement T>
class LocalRows;

template <SparseElement T>
class SparseMatrix {
 public:
  using value_type = T;

  SparseMatrix(SparseMatrix&&) noexcept = default;
  SparseMatrix& operator=(SparseMatrix&&) noexcept = default;
  ~SparseMatrix() = default;

  /// Collective over the team of `options`. Each member gives its own rows, all of them in the
  /// order of the ranks; they may be none. All give the same number of columns. Of the options
  /// those on rows do not count. Errors: invalid_argument (rows that break the invariants of
  /// LocalCsr, other columns than the first member), no_memory.
  /// Cost: a copy of the rows, which are given up on the way.
  static rma::Result<SparseMatrix> create(const rma::Job& job, LocalCsr<T> own_rows,
                                          const SparseOptions& options = {});

  /// Collective. The same entries once more; the pattern is shared. Errors: closed, no_memory.
  [[nodiscard]] rma::Result<SparseMatrix> duplicate(const std::string& name);
  /// Collective. Gives the memory back; operations on the matrix must be complete. Idempotent.
  rma::Status free();
  /// Local. Errors: closed when the matrix was freed or moved from.
  [[nodiscard]] rma::Status check_open() const;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Requires, here and below: check_open() is ok.
  [[nodiscard]] std::int64_t rows() const noexcept { return pattern_->rows(); }
  [[nodiscard]] std::int64_t columns() const noexcept { return pattern_->columns(); }
  /// Of all ranks.
  [[nodiscard]] std::int64_t entries() const noexcept { return pattern_->entries(); }
  [[nodiscard]] arrays::Extents extents() const noexcept { return {rows(), columns()}; }
  [[nodiscard]] arrays::Box box() const noexcept { return arrays::Box::whole(extents()); }
  [[nodiscard]] rma::Job& job() const noexcept { return pattern_->job(); }
  [[nodiscard]] rma::Team& team() const noexcept { return pattern_->team(); }
  [[nodiscard]] const std::shared_ptr<SparsePattern>& pattern() const noexcept { return pattern_; }
  [[nodiscard]] rma::Region& values() noexcept { return values_; }

  /// Where rows lie: for vectors that are to lie beside them.
  [[nodiscard]] const arrays::Distribution& row_distribution() const noexcept {
    return pattern_->row_distribution();
  }
  /// An even cut of the columns into as many blocks as there are ranks.
  [[nodiscard]] arrays::Distribution column_distribution() const;
  /// Local. The blocks of column_distribution(), by their ranks, in which this rank's rows have
  /// entries; ascending. Errors: closed.
  [[nodiscard]] rma::Result<std::vector<rma::TeamRank>> column_blocks();

  /// Local. This rank's rows, for loads and stores of values. Errors: closed.
  [[nodiscard]] rma::Result<LocalRows<T>> local();

  /// One-sided. The entries inside `box`, whose lower corner becomes row 0 and column 0. All of the
  /// matrix if the box is: that is how one rank gets it, and with to_triplets() as triplets. What
  /// others changed is here if it was synchronised. Errors: out_of_range, closed,
  /// no_memory.
  /// Cost: all entries of the box's rows are read, in parts of some MiB.
  [[nodiscard]] rma::Result<LocalCsr<T>> get(const arrays::Box& box);

  /// Collective. What members did to values before is seen by all after it.
  rma::Status sync() { return sync(rma::Status()); }
  /// Collective. The end of a collective in which this rank found `mine`: an error of any member is
  /// the result on all.
  rma::Status sync(const rma::Status& mine);

  /// "sparse matrix 'A' (float64, 100 x 100, 298 entries)".
  [[nodiscard]] std::string describe() const;

  /// Collective. For what makes matrices: rows that lie as `rows` says, without checks.
  /// Requires: own_rows are this rank's of `rows`, and keep the invariants of LocalCsr.
  static rma::Result<SparseMatrix> adopt(const rma::Job& job, rma::Team& team,
                                         const arrays::Distribution& rows, LocalCsr<T> own_rows,
                                         const std::string& name);

 private:
  SparseMatrix(std::string name, std::shared_ptr<SparsePattern> pattern, rma::Region values)
      : name_(std::move(name)), pattern_(std::move(pattern)), values_(std::move(values)) {}

  std::string name_;
  std::shared_ptr<SparsePattern> pattern_;  // before values_: frees its regions after them
  rma::Region values_;
  rma::Team freed_on_;  // of a matrix that was freed: errors name the rank
};

/// The scoped right to this rank's own rows. Others may read and write values meanwhile;
/// synchronise with SparseMatrix::sync().
template <SparseElement T>
class LocalRows {
 public:
  /// Local. Errors: closed.
  static rma::Result<LocalRows> begin(SparseMatrix<T>& matrix);
  /// Ends the access and reports; the destructor does so and logs.
  rma::Status end();

  /// The global number of the first row, and how many there are.
  [[nodiscard]] std::int64_t first_row() const noexcept { return first_row_; }
  [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::int64_t entries() const noexcept { return entries_; }
  /// Of row first_row() + i: from row_start(i) to row_start(i + 1). Requires: 0 ≤ i ≤ rows().
  [[nodiscard]] std::int64_t row_start(std::int64_t i) const noexcept {
    return rows_ == 0 ? 0 : row_starts_[i];
  }
  /// rows() + 1 numbers; null without rows.
  [[nodiscard]] const std::int64_t* row_starts() const noexcept { return row_starts_; }
  [[nodiscard]] std::span<const std::int64_t> columns() const noexcept {
    return {columns_, static_cast<std::size_t>(entries_)};
  }
  [[nodiscard]] std::span<const std::int64_t> columns_of(std::int64_t i) const noexcept {
    return columns().subspan(static_cast<std::size_t>(row_start(i)),
                             static_cast<std::size_t>(row_start(i + 1) - row_start(i)));
  }
  [[nodiscard]] std::span<T> values() const noexcept {
    return {values_, static_cast<std::size_t>(entries_)};
  }
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
