// SPDX-License-Identifier: BSD-3-Clause
//
// SparseBuilder<T>: collects the entries of a sparse matrix, in any order and on any rank.
//
//     auto builder = SparseBuilder<double>::create(job, rows, columns, {.name = "A"}).value();
//     for (… elements of this rank …) builder.add(triplets);        // no communication
//     SparseMatrix<double> a = builder.assemble().value();          // sends entries to owners
//
// Entries that are added more than once are summed, as finite elements need it, in the order of the
// ranks that added them and of each rank's calls. So equal calls give equal bits. If each rank adds
// its part of one global order, as owners of consecutive rows do, the bits don't depend on the
// number of ranks.
//
// Threads: one at a time. Ownership: move-only, with the added entries; a builder that was moved
// from may only be assigned to.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "linalg/csr.hpp"
#include "linalg/local_csr.hpp"

namespace tessera::linalg {

template <SparseElement T>
class SparseBuilder {
 public:
  SparseBuilder(SparseBuilder&&) noexcept = default;
  SparseBuilder& operator=(SparseBuilder&&) noexcept = default;
  ~SparseBuilder() = default;

  /// Collective over the team of `options`. Errors: invalid_argument (negative extents, bad
  /// row_starts, or arguments that differ among members).
  static rma::Result<SparseBuilder> create(const rma::Job& job, std::int64_t rows,
                                           std::int64_t columns, const SparseOptions& options = {});

  /// Local. Adds `value` to the entry, and makes the entry if it does not exist. Errors:
  /// out_of_range (names rank, entry and extents), closed after assemble(), no_memory. After an
  /// error nothing is added.
  rma::Status add(std::int64_t row, std::int64_t column, T value);
  /// Local. Adds all entries of a list, or none after an error.
  rma::Status add(std::span<const Triplet<T>> entries);
  /// Local. Reserves memory for a total of `entries` entries on this rank.
  void reserve(std::int64_t entries) { added_.reserve(static_cast<std::size_t>(entries)); }
  /// The number of entries that were added on this rank and are not assembled yet.
  [[nodiscard]] std::int64_t added() const noexcept { return std::ssize(added_); }

  /// Collective. Makes the matrix of what all members added; the builder is closed then. Errors:
  /// closed, no_memory, peer_lost. Memory: 40 bytes (56 for complex<double>) for each entry that
  /// this rank receives. The entries that were added here are freed during the call.
  rma::Result<SparseMatrix<T>> assemble();

 private:
  SparseBuilder(const rma::Job& job, rma::Team team, const arrays::Distribution& even,
                std::int64_t columns, SparseOptions options)
      : job_(job),
        team_(std::move(team)),
        rows_(even),
        columns_(columns),
        options_(std::move(options)) {}
  [[nodiscard]] rma::Status check(std::int64_t row, std::int64_t column) const {
    return row >= 0 && row < rows_.extents()[0] && column >= 0 && column < columns_ && !is_closed_
               ? rma::Status()
               : explain(row, column);
  }
  [[nodiscard]] rma::Status explain(std::int64_t row, std::int64_t column) const;
  [[nodiscard]] rma::Status balance();

  rma::Job job_;
  rma::Team team_;
  arrays::Distribution rows_;
  std::int64_t columns_;
  SparseOptions options_;
  std::vector<Triplet<T>> added_;
  bool is_closed_ = false;
};

extern template class SparseBuilder<std::int32_t>;
extern template class SparseBuilder<std::int64_t>;
extern template class SparseBuilder<float>;
extern template class SparseBuilder<double>;
extern template class SparseBuilder<std::complex<float>>;
extern template class SparseBuilder<std::complex<double>>;

}  // namespace tessera::linalg
