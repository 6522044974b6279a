// SPDX-License-Identifier: BSD-3-Clause
//
// SparsePattern: the positions of the entries of a distributed sparse matrix. A matrix, its
// duplicates and the plans (spmv.hpp) made for them share one pattern, which never changes.
//
// Each rank of a team owns a block of consecutive rows, in the order of the ranks; some may own
// none. Its slices hold them as LocalCsr does (local_csr.hpp), with 64-bit global columns, in
// regions, so that any rank can read any part one-sided.
//
// Threads: queries from any thread. Ownership: shared; the last owner frees the memory,
// collectively. All members must drop their owners in the same order.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "arrays/distribution.hpp"
#include "rma/base/result.hpp"
#include "rma/job.hpp"
#include "rma/region.hpp"

namespace tessera::linalg {

class SparsePattern {
 public:
  /// Collective on `team`. `rows` has at most one block for each rank; `row_starts` and `column`
  /// are this rank's. Requires: they keep the invariants of LocalCsr. Errors: no_memory, peer_lost.
  static rma::Result<std::shared_ptr<SparsePattern>> create(
      const rma::Job& job, rma::Team& team, const arrays::Distribution& rows, std::int64_t columns,
      std::span<const std::int64_t> row_starts, std::span<const std::int64_t> column);

  [[nodiscard]] rma::Job& job() const noexcept { return job_; }
  [[nodiscard]] rma::Team& team() const noexcept { return starts_.team(); }
  [[nodiscard]] std::int64_t rows() const noexcept { return row_distribution_.extents()[0]; }
  [[nodiscard]] std::int64_t columns() const noexcept { return columns_; }
  /// The number of entries on all ranks.
  [[nodiscard]] std::int64_t entries() const noexcept { return entries_; }
  [[nodiscard]] const arrays::Distribution& row_distribution() const noexcept {
    return row_distribution_;
  }
  /// This rank's rows begin at first_row(), which is 0 if it has none.
  [[nodiscard]] std::int64_t first_row() const noexcept { return own_rows_.lo(0); }
  [[nodiscard]] std::int64_t row_count() const noexcept { return own_rows_.extent(0); }

  /// Slices of row_count + 1 numbers, empty on ranks without rows: offsets of rows in the slice of
  /// entries.
  [[nodiscard]] rma::Region& starts() noexcept { return starts_; }
  /// Slices of 64-bit column numbers, one for each entry.
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
