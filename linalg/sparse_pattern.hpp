// SPDX-License-Identifier: BSD-3-Clause
//
// SparsePattern: where the entries of a distributed sparse matrix are. Matrices that were
// duplicated share one, and so do plans (spmv.hpp) made for them; it never changes.
//
// Each rank of a team has a block of consecutive rows, in the order of the ranks; some may have
// none. Its slices hold them as LocalCsr does (local_csr.hpp), with 64-bit global columns, in
// regions, so that any rank reads any part one-sidedly.
//
// Threads: queries from any thread.
// Ownership: shared; the last owner to go gives the memory back, collectively: all members drop
// what they own in the same order.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "arrays/distribution.hpp"
#include "rma/job.hpp"
#include "rma/region.hpp"
#include "rma/result.hpp"

namespace tessera::linalg {

class SparsePattern {
 public:
  /// Collective on `team`. `rows` deals at most one block a rank; `row_starts` and `column` are
  /// this rank's. Requires: they keep the invariants of LocalCsr. Errors: no_memory, peer_lost.
  static rma::Result<std::shared_ptr<SparsePattern>> create(
      const rma::Job& job, rma::Team& team, const arrays::Distribution& rows, std::int64_t columns,
      std::span<const std::int64_t> row_starts, std::span<const std::int64_t> column);

  [[nodiscard]] rma::Job& job() const noexcept { return job_; }
  [[nodiscard]] rma::Team& team() const noexcept { return starts_.team(); }
  [[nodiscard]] std::int64_t rows() const noexcept { return row_distribution_.extents()[0]; }
  [[nodiscard]] std::int64_t columns() const noexcept { return columns_; }
  /// Of all ranks.
  [[nodiscard]] std::int64_t entries() const noexcept { return entries_; }
  [[nodiscard]] const arrays::Distribution& row_distribution() const noexcept {
    return row_distribution_;
  }
  /// This rank's rows begin at first_row(); 0 if it has none.
  [[nodiscard]] std::int64_t first_row() const noexcept { return own_rows_.lo(0); }
  [[nodiscard]] std::int64_t row_count() const noexcept { return own_rows_.extent(0); }

  /// Slices of row_count + 1 numbers, none for ranks without rows: entries from the slice's start.
  [[nodiscard]] rma::Region& starts() noexcept { return starts_; }
  /// Slices of 64-bit columns, one for each entry.
  [[nodiscard]] rma::Region& column() noexcept { return column_; }

 private:
  SparsePattern(const rma::Job& job, const arrays::Distribution& rows, std::int64_t columns,
                std::int64_t entries, rma::Region starts, rma::Region column)
      : job_(job),
        row_distribution_(rows),
        columns_(columns),
        entries_(entries),
        starts_(std::move(starts)),
        column_(std::move(column)),
        own_rows_(row_distribution_.box_of(team().rank())) {}

  mutable rma::Job job_;
  arrays::Distribution row_distribution_;
  std::int64_t columns_;
  std::int64_t entries_;
  rma::Region starts_;
  rma::Region column_;
  arrays::Box own_rows_;
};

}  // namespace tessera::linalg
