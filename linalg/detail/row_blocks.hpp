// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. The partition of a sparse matrix's rows into one block of consecutive rows for each
// rank. A rank may have none, even in the middle of the team; blocks follow the order of the ranks.
#pragma once

#include <cstdint>
#include <span>

#include "arrays/distribution.hpp"
#include "rma/base/result.hpp"
#include "rma/team.hpp"

namespace tessera::linalg::detail {

/// A half-open range of rows.
struct RowRange {
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  [[nodiscard]] std::int64_t size() const noexcept { return hi - lo; }
};

/// As even as possible; the first ranks have one more row.
rma::Result<arrays::Distribution> even_rows(std::int64_t rows, std::int32_t nranks);
/// Rank i owns the rows from starts[i] to the next start; ranks beyond the starts own none.
rma::Result<arrays::Distribution> rows_from(std::int64_t rows, std::span<const std::int64_t> starts,
                                            std::int32_t nranks);
/// Rank i owns counts[i] rows. Errors: invalid_argument if the sum doesn't fit 63 bits.
rma::Result<arrays::Distribution> rows_by_count(std::span<const std::int64_t> counts);

/// The rows of a rank; [0, 0) if it has none.
RowRange rows_of(const arrays::Distribution& rows, rma::TeamRank rank);

/// Collective. Blocks with about equal numbers of entries; `entries_of_row` are those of this
/// rank's rows in `even`, the result of even_rows(). Without its last row, no block has more than
/// the mean. Cost: two small collectives of O(ranks).
rma::Result<arrays::Distribution> balanced_rows(rma::Team& team, const arrays::Distribution& even,
                                                std::span<const std::int64_t> entries_of_row);

}  // namespace tessera::linalg::detail
